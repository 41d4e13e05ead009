"""SHA-256 over bytes and over canonical JSON: fingerprints of commands, digests of nodes."""

import sys
from typing import TYPE_CHECKING

from sidekeep.model.canonical import canonical

# The interpreter's own to begin with: loading OpenSSL's takes 5 ms of a host's way to its first answer.
if TYPE_CHECKING:
    from hashlib import sha256
elif sys.version_info >= (3, 12):
    from _sha2 import sha256
else:
    from _sha256 import sha256

# Members of an op that say who sent it and not what it is.
_ENVELOPE = ("type", "submissionId", "clientId")
# Members whose value may not leave the vault, not even as a digest that could be guessed.
_SECRET: dict[str, tuple[str, ...]] = {
    "secret.set": ("value",),
    "vault.status": ("passphrase",),
    "vault.unlock": ("passphrase",),
    "vault.lock": ("passphrase",),
    "vault.rekey": ("passphrase",),
}


def quicken() -> None:
    """Digest with OpenSSL's code from now on, which is up to eight times as fast."""
    global sha256
    from hashlib import sha256 as of_openssl

    sha256 = of_openssl


def sha256_hex(data: bytes | bytearray | memoryview) -> str:
    """Lower-case hex SHA-256 of bytes."""
    return sha256(data).hexdigest()


def digest_of(value: object) -> str:
    """Lower-case hex SHA-256 of a value's canonical JSON."""
    return sha256(canonical(value)).hexdigest()


def fingerprint(op: dict[str, object]) -> str:
    """A command's `requestFingerprint`: the digest of what it asks, without who asks and secrets."""
    body = dict(op)
    for name in _ENVELOPE:
        body.pop(name, None)
    for name in _SECRET.get(str(op.get("type")), ()):
        body.pop(name, None)
    return sha256(canonical(body)).hexdigest()


def node_digest(
    node_id: str, parent_id: str | None, parent_digest: str | None, ts: int, kind: str, payload: bytes
) -> str:
    """The digest of a node, which chains it to its parent's.

    `payload` is canonical JSON already and is spliced in as it is: the result equals
    `digest_of({"id", "parentId", "parentDigest", "ts", "type", "payload"})`.
    """
    parent = "null" if parent_id is None else f'"{parent_id}"'
    link = "null" if parent_digest is None else f'"{parent_digest}"'
    head = f'{{"id":"{node_id}","parentDigest":{link},"parentId":{parent},"payload":'
    return sha256(b"%b%b%b" % (head.encode(), payload, f',"ts":{ts},"type":"{kind}"}}'.encode())).hexdigest()
