"""What bytes are, by how they begin: the announced type is a claim, and binary data must not be read as text."""

PDF = "application/pdf"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
#: Containers whose own type says more than their signature.
_WITHIN_ZIP = ("application/vnd.", "application/epub+zip", "application/java-archive", "application/x-")
SNIFFED_BYTES = 1024


def sniffed(head: bytes) -> str | None:
    """The type that the first bytes show beyond doubt, or None."""
    for signature, mime in _SIGNATURES:
        if head.startswith(signature):
            return mime
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def corrected(announced: str, head: bytes) -> str:
    """The announced type, unless the bytes show another one."""
    found = sniffed(head)
    if found is None or (found == "application/zip" and announced.startswith(_WITHIN_ZIP)):
        return announced
    return found


def is_text(data: bytes) -> bool:
    """Whether the bytes can be shown as UTF-8 text: no NUL in what is looked at, and no known binary signature."""
    head = data[: 8 * SNIFFED_BYTES]
    return sniffed(head) is None and b"\0" not in head
