"""Digests: what a command's fingerprint leaves out, and how a node is chained to its parent."""

import hashlib
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekeep.model import digests
from sidekeep.model.canonical import canonical
from sidekeep.model.digests import digest_of, fingerprint, node_digest, sha256_hex
from sidekeep.model.ops.every import BY_NAME

ID = str(uuid.uuid4())


def test_a_digest_is_the_lower_case_hex_of_sha256_over_canonical_json() -> None:
    """Every digest of the contract, by the definition and not by our own functions."""
    value = {"b": [1, 2.5, None], "a": "é😀"}
    text = '{"a":"é😀","b":[1,2.5,null]}'
    assert digest_of(value) == hashlib.sha256(text.encode()).hexdigest() == sha256_hex(text.encode())


def test_a_fingerprint_is_of_what_is_asked_and_not_of_who_asks() -> None:
    """The op without `type`, `submissionId` and `clientId`; the order of members does not count."""
    op = {"type": "thread.create", "submissionId": ID, "clientId": "a", "title": "t", "tags": ["x"]}
    same = {"tags": ["x"], "title": "t", "submissionId": str(uuid.uuid4()), "type": "thread.create"}
    assert fingerprint(op) == fingerprint(same) == digest_of({"title": "t", "tags": ["x"]})
    assert fingerprint(op) != fingerprint({**op, "title": "u"})
    assert op["clientId"] == "a"  # what was given is not changed


def test_a_secret_value_is_in_no_fingerprint() -> None:
    """A digest of a short secret could be guessed (E72)."""
    one = {"type": "secret.set", "submissionId": ID, "name": "key", "value": "hunter2"}
    assert fingerprint(one) == fingerprint({**one, "value": "another"}) == digest_of({"name": "key"})
    rekey = {"type": "vault.rekey", "submissionId": ID, "passphrase": "p"}
    assert fingerprint(rekey) == digest_of({})


def test_every_member_that_could_hold_a_secret_is_left_out() -> None:
    """An op that gains a `value` or a `passphrase` of this kind has to be listed beside the others."""
    for name, op in BY_NAME.items():
        for member in ("passphrase", "value"):
            if member in op.__struct_fields__ and name != "memory.set":
                told = {"type": name, "submissionId": ID, member: "hunter2"}
                assert fingerprint(told) == digest_of({}), name


@pytest.mark.parametrize("parent", [None, (str(uuid.uuid4()), "ab" * 32)])
@given(payload=st.dictionaries(st.text(st.characters(blacklist_categories=["Cs"])), st.integers() | st.booleans()))
def test_a_nodes_digest_is_that_of_its_canonical_json(parent: tuple[str, str] | None, payload: dict) -> None:
    """SHA-256 of the canonical JSON of {id, parentId, parentDigest, ts, type, payload}."""
    parent_id, parent_digest = parent or (None, None)
    node = {
        "id": ID,
        "parentId": parent_id,
        "parentDigest": parent_digest,
        "ts": 1_700_000_000_000,
        "type": "user_message",
        "payload": payload,
    }
    found = node_digest(ID, parent_id, parent_digest, 1_700_000_000_000, "user_message", canonical(payload))
    assert found == digest_of(node)
    plain = json.dumps(json.loads(canonical(node)), separators=(",", ":"), ensure_ascii=False)
    assert digest_of(node) == hashlib.sha256(plain.encode()).hexdigest()


def test_the_interpreters_own_digest_and_openssls_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host digests with the interpreter's SHA-256 until its first answer is out, and with OpenSSL's afterwards."""
    monkeypatch.setattr(digests, "sha256", digests.sha256)  # put back afterwards
    value = {"a": ["ü", 1, None]}
    own = digest_of(value)
    digests.quicken()
    assert digests.sha256 is hashlib.sha256
    assert digest_of(value) == own == hashlib.sha256('{"a":["ü",1,null]}'.encode()).hexdigest()
