"""The contract has one source: structs, schema, types and digest agree, and nothing drifts."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidekeep.commands.catalog import CAPABILITIES, COMMANDS, QUERIES
from sidekeep.host.dispatch import handler
from sidekeep.model import ops
from sidekeep.model.answers import ACKS, RESULTS
from sidekeep.model.canonical import canonical
from sidekeep.model.contract import OPS, PROTOCOL, SCHEMA_HASH
from sidekeep.model.decode import decode_op
from sidekeep.model.errors import BY_CODE, CODES, InvalidCommand
from sidekeep.model.ops.every import BY_NAME
from support.shapes import ANY, TEXT, Shapes

TOP = Path(__file__).parents[2]
SCHEMA = json.loads((TOP / "docs" / "schema.json").read_text("utf-8"))
SHAPES = Shapes(SCHEMA)
RETRYABLE = {
    "overloaded", "queue_full", "run_active", "store_busy", "storage_full", "vault_locked", "internal",
    "provider_rate_limit", "provider_overloaded", "provider_network",
}  # fmt: skip
FINAL = {
    "invalid_frame", "message_too_large", "invalid_command", "not_initialized", "not_found", "conflict",
    "turn_mismatch", "quota_exceeded", "digest_mismatch", "too_large", "forbidden_path", "forbidden_origin",
    "project_frozen", "needs_permission", "snapshot_invalid", "snapshot_unsupported", "store_newer",
    "storage_corrupt", "provider_auth", "provider_context_too_long", "provider_content_filter", "provider_protocol",
}  # fmt: skip


def test_what_is_generated_is_what_the_structs_say() -> None:
    """One source: `scripts/generate --check` finds every generated file as it would write it."""
    done = subprocess.run(
        [sys.executable, str(TOP / "scripts" / "generate"), "--check"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_schema_hash_is_the_digest_of_the_schema() -> None:
    """`schemaHash` is SHA-256 over the generated JSON Schema of all ops and events; the types carry the same."""
    assert PROTOCOL == "sidekeep/1" == SCHEMA["title"]
    assert hashlib.sha256(canonical(SCHEMA)).hexdigest() == SCHEMA_HASH
    types = (TOP / "extension" / "src" / "protocol.gen.ts").read_text("utf-8")
    assert re.findall(r'SCHEMA_HASH = "([0-9a-f]{64})"', types) == [SCHEMA_HASH]


def test_every_op_has_an_answer_and_every_capability_is_an_op() -> None:
    """An op is a command or a query or the port's; each name leads to a function."""
    assert set(OPS) == set(BY_NAME)
    assert {name: ops.named(name) for name in BY_NAME} == BY_NAME
    assert ops.named("thread.nothing") is ops.named("nothing") is ops.named("") is None
    assert set(CAPABILITIES) <= set(OPS)
    assert not set(COMMANDS) & set(QUERIES)
    assert set(COMMANDS) <= set(ACKS)
    assert set(QUERIES) <= set(RESULTS)
    for name in (*COMMANDS, *QUERIES):
        assert callable(handler(name)), name


def test_the_codes_are_those_of_the_contract_with_their_retryability() -> None:
    """The table of codes: which of them may be tried again."""
    assert set(CODES) == RETRYABLE | FINAL
    assert {code for code, error in BY_CODE.items() if error.retryable} == RETRYABLE
    not_kept = {code for code, error in BY_CODE.items() if not error.keeps_receipt}
    assert not_kept == RETRYABLE | {"not_initialized", "store_newer", "storage_corrupt"}


ENVELOPE = {"type", "submissionId", "clientId"}
DAMAGE = st.one_of(
    st.tuples(st.just("drop"), st.integers(0, 20), st.none()),
    st.tuples(st.just("replace"), st.integers(0, 20), ANY),
    st.tuples(st.just("add"), st.integers(0, 20), st.tuples(TEXT, ANY)),
    st.tuples(st.just("deep"), st.integers(0, 20), ANY),
)


def damaged(op: dict, damage: list) -> dict:
    """The op with members dropped, replaced, added, or replaced inside an inner object."""
    op = json.loads(json.dumps(op))
    for kind, at, what in damage:
        names = sorted(set(op) - {"type"})
        if kind == "add":
            op[what[0]] = what[1]
        elif names and kind == "drop":
            del op[names[at % len(names)]]
        elif names and kind == "replace":
            op[names[at % len(names)]] = what
        elif names:
            inner = op[names[at % len(names)]]
            if isinstance(inner, dict) and inner:
                inner[sorted(inner)[at % len(inner)]] = what
            elif isinstance(inner, list):
                inner.append(what)
    return op


@pytest.mark.parametrize("name", sorted(BY_NAME))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_an_op_is_decoded_exactly_when_the_schema_accepts_it(name: str, data: st.DataObject) -> None:
    """The schema that clients are made from and the decoder that judges them say the same of every op."""
    shape = SCHEMA["$defs"][BY_NAME[name].__name__]
    whole = data.draw(SHAPES.values(shape))
    op = damaged(whole, data.draw(st.lists(DAMAGE, max_size=2)))
    if op.get("type") != name:
        return
    expected = SHAPES.accepts(shape, op)
    if name == "node.append" and expected:
        # What the schema cannot say: the payload is of the node's own type.
        kind = {"user_message": "UserMessage", "assistant_message": "AssistantMessage", "system_notice": "SystemNotice"}
        expected = SHAPES.accepts(SCHEMA["$defs"][kind[op["nodeType"]]], op["payload"])
    raw = json.dumps(op).encode()
    if expected:
        decoded, plain = decode_op(raw)
        assert type(decoded) is BY_NAME[name]
        assert plain == op
    else:
        with pytest.raises(InvalidCommand):
            decode_op(raw)
