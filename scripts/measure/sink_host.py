"""A native host that takes attachments and keeps nothing: decodes each chunk, acknowledges. The yardstick of P4."""

import base64
import json
import struct
import sys
import uuid

CHUNK_BYTES = 256 * 1024


def main() -> None:
    port_in, port_out = sys.stdin.buffer, sys.stdout.buffer
    while header := port_in.read(4):
        (size,) = struct.unpack("=I", header)
        message = json.loads(port_in.read(size))
        answer = {"type": "command.ack", "submissionId": message["submissionId"]}
        if message["type"] == "attachment.begin":
            answer |= {"attachmentId": str(uuid.uuid4()), "chunkBytes": CHUNK_BYTES, "have": False}
        elif message["type"] == "attachment.chunk":
            answer["received"] = len(base64.b64decode(message["data"]))
        body = json.dumps(answer).encode()
        port_out.write(struct.pack("=I", len(body)) + body)
        port_out.flush()


if __name__ == "__main__":
    main()
