"""A native host that only answers its first message: the least that any host in Python costs."""

import json
import struct
import sys

port_in, port_out = sys.stdin.buffer, sys.stdout.buffer
(size,) = struct.unpack("=I", port_in.read(4))
message = json.loads(port_in.read(size))
body = json.dumps({"type": "initialized", "submissionId": message["submissionId"]}).encode()
port_out.write(struct.pack("=I", len(body)) + body)
port_out.flush()
port_in.read(1)
