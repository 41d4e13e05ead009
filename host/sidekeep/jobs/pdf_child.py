"""The process that reads one PDF: a line with its size and its bytes come in, a JSON line for each page goes out.

It ends at once when its input closes: then nobody waits for it any more. A PDF is a stranger's program: memory and time
are bounded before its first byte is read, nothing but the pipe is open, and whatever happens here ends here. The last
line says how many pages there are.
"""

import json
import logging
import os
import sys
import threading
from io import BytesIO

MEMORY_BYTES = 1024 * 1024 * 1024
CPU_SECONDS = 60
PAGE_CHARACTERS = 200_000


def main() -> None:
    bound()
    logging.disable(logging.CRITICAL)
    size = int(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read(size)
    threading.Thread(target=end_with_input, daemon=True).start()
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        tell({"fault": "it is locked with a password"})
        return
    total = len(reader.pages)
    for number in range(total):
        try:
            text = reader.pages[number].extract_text()
        except Exception as error:
            # One page that cannot be read leaves the others.
            tell({"page": number + 1, "text": "", "fault": type(error).__name__})
            continue
        tell({"page": number + 1, "text": text[:PAGE_CHARACTERS]})
    tell({"pages": total})


def end_with_input() -> None:
    sys.stdin.buffer.read(1)
    os._exit(0)


def bound() -> None:
    """Limits of the operating system, where it has them."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def tell(line: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(line).encode() + b"\n")
    sys.stdout.buffer.flush()
