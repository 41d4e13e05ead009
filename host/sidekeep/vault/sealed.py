"""The sealed form of a secret: AES-256-GCM under a named key, bound to the secret's name.

    1 byte    version, 1
    8 bytes   id of the key
    12 bytes  nonce, random
    rest      ciphertext and 16-byte tag; associated data is the version, the key's id and the name

A key's id is derived from the key, so that a key fetched from anywhere can be told from another one.
"""

import os
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
ID_BYTES = 8
NONCE_BYTES = 12
_VERSION = b"\x01"
_HEAD = len(_VERSION) + ID_BYTES
_SHORTEST = _HEAD + NONCE_BYTES + 16


class Unreadable(Exception):
    """These bytes were not sealed under this key and name, or were changed since."""


def new_key() -> bytes:
    """A key from the operating system's randomness."""
    return os.urandom(KEY_BYTES)


def id_of(key: bytes) -> str:
    """The id of a key: 16 hex digits, from which nothing of the key can be found."""
    return sha256(b"sidekeep vault key\0" + key).digest()[:ID_BYTES].hex()


def seal(key: bytes, name: str, value: str) -> bytes:
    head = _VERSION + bytes.fromhex(id_of(key))
    nonce = os.urandom(NONCE_BYTES)
    return head + nonce + AESGCM(key).encrypt(nonce, value.encode(), head + name.encode())


def open_sealed(key: bytes, name: str, sealed: bytes) -> str:
    """Raises Unreadable."""
    key_of(sealed)
    head, nonce, rest = sealed[:_HEAD], sealed[_HEAD : _HEAD + NONCE_BYTES], sealed[_HEAD + NONCE_BYTES :]
    try:
        return AESGCM(key).decrypt(nonce, rest, head + name.encode()).decode()
    except (InvalidTag, UnicodeDecodeError):
        raise Unreadable from None


def key_of(sealed: bytes) -> str:
    """The id of the key that sealed these bytes. Raises Unreadable for bytes of another form."""
    if len(sealed) < _SHORTEST or sealed[:1] != _VERSION:
        raise Unreadable
    return sealed[1:_HEAD].hex()


def wrap(wrapping: bytes, key: bytes) -> bytes:
    """A key under a key made from a passphrase."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(wrapping).encrypt(nonce, key, b"sidekeep vault key")


def unwrap(wrapping: bytes, wrapped: bytes) -> bytes:
    """Raises Unreadable for another passphrase."""
    try:
        return AESGCM(wrapping).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], b"sidekeep vault key")
    except (InvalidTag, ValueError):
        raise Unreadable from None
