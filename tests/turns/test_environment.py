"""What a run was started under: digests that anybody can work out, and a refusal to go on when anything moved."""

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from sidekeep.model import environment
from sidekeep.model.environment import binding_of
from sidekeep.model.errors import SidekeepError, SnapshotInvalid, SnapshotUnsupported

CONNECTION = {
    "id": "c1",
    "name": "Mine",
    "kind": "openai",
    "baseUrl": "https://models.example/v1",
    "secretRefs": ["key"],
    "enabled": True,
    "quirks": {"maxTokensName": "max_tokens"},
}
INPUT = {"content": [{"type": "text", "text": "Hello"}]}
SKILL = {"id": "s1", "name": "bees", "description": "About bees", "body": "Bees live in hives."}
TOOL = {
    "name": "search",
    "description": "Search the history",
    "parameters": {"type": "object"},
    "execution": {"kind": "builtin", "level": "builtin"},
}


def sha(value: object) -> str:
    """The contract's digest, for values on which Python's JSON and RFC 8785 agree."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def made(**changed: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "captured_at": 1_700_000_000_000,
        "turn_input": INPUT,
        "connection_id": "c1",
        "model_id": "m1",
        "parameters": {"temperature": 0.5},
        "capabilities": {"toolUse": True, "vision": False},
        "pricing": {"input": 1, "output": 2},
        "binding": binding_of(CONNECTION),
        "permission_policy": "untrusted",
        "scope": {"levels": ["builtin"], "origins": ["https://a.example"]},
        "system_prompt": "You help.",
        "prompt_version": "1",
        "skills": [SKILL],
        "tools": [TOOL],
        "browser_context": {"windowId": 1, "tabId": 2, "url": "https://a.example/", "title": "A"},
    }
    return environment.build(**{**given, **changed})


def check(snapshot: dict[str, Any] | None, **changed: Any) -> None:
    given: dict[str, Any] = {
        "binding_now": binding_of(CONNECTION),
        "turn_input": INPUT,
        "expected_digest": snapshot["digest"] if snapshot else None,
        "tools_now": {"search": TOOL},
    }
    environment.verify(snapshot, **{**given, **changed})


def test_every_digest_is_the_one_of_the_contract() -> None:
    """Lower-case hex SHA-256 of the canonical JSON of its subject without its own `digest`."""
    snapshot = made()
    assert snapshot["snapshotVersion"] == 1
    assert snapshot["inputDigest"] == sha(INPUT)
    assert snapshot["systemPromptDigest"] == sha("You help.")
    assert snapshot["skillCatalog"] == [{**SKILL, "digest": sha(SKILL)}]
    assert snapshot["toolCatalog"] == [{**TOOL, "digest": sha(TOOL)}]
    assert snapshot["toolCatalogDigest"] == sha([{**TOOL, "digest": sha(TOOL)}])
    assert snapshot["digest"] == sha({name: value for name, value in snapshot.items() if name != "digest"})
    assert snapshot["providerBinding"] == {
        "kind": "openai",
        "connectionId": "c1",
        "protocol": "openai-chat",
        "baseUrl": "https://models.example/v1",
        "quirks": {"maxTokensName": "max_tokens"},
        "credentials": ["key"],
    }


def test_a_snapshot_comes_back_from_its_stored_text_as_it_was() -> None:
    snapshot = made()
    read = environment.read(environment.stored(snapshot))
    assert read == snapshot
    check(read)


def test_no_secret_value_is_in_it() -> None:
    """References only: the value behind one may be rotated between two attempts."""
    headers = {"X-Org": "plain", "Authorization": {"secret": "key"}}
    binding = binding_of({**CONNECTION, "headers": headers})
    snapshot = made(binding=binding)
    assert binding["headersDigest"] == sha(headers)
    assert "plain" not in json.dumps(snapshot)
    check(snapshot, binding_now=binding_of({**CONNECTION, "headers": headers, "name": "Renamed", "enabled": True}))


MOVED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "endpoint": lambda c: c.update(baseUrl="https://elsewhere.example/v1"),
    "kind": lambda c: c.update(kind="anthropic"),
    "reference of the key": lambda c: c.update(secretRefs=["other"]),
    "quirks": lambda c: c.update(quirks={}),
    "headers": lambda c: c.update(headers={"X-Org": "added"}),
}


@pytest.mark.parametrize("what", MOVED)
def test_a_connection_that_moved_is_refused(what: str) -> None:
    now = copy.deepcopy(CONNECTION)
    MOVED[what](now)
    with pytest.raises(SnapshotInvalid):
        check(made(), binding_now=binding_of(now))


def test_a_connection_that_is_gone_is_refused() -> None:
    with pytest.raises(SnapshotInvalid, match="removed"):
        check(made(), binding_now=None)


def test_a_changed_name_or_model_list_is_no_move() -> None:
    """Only how the endpoint is reached counts; the parameters of the run stand in the snapshot."""
    check(made(), binding_now=binding_of({**CONNECTION, "name": "Renamed", "models": [{"id": "m2"}], "revision": 9}))


ALTERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "prompt": lambda s: s.update(systemPrompt="You obey."),
    "parameters": lambda s: s.update(modelParameters={"temperature": 1}),
    "model": lambda s: s.update(modelId="m2"),
    "policy": lambda s: s.update(permissionPolicy="auto"),
    "scope": lambda s: s["capabilityScope"].update(origins=["https://evil.example"]),
    "skill": lambda s: s["skillCatalog"][0].update(body="Obey."),
    "tool": lambda s: s["toolCatalog"][0].update(description="Obey"),
    "catalog": lambda s: s["toolCatalog"].clear(),
    "price": lambda s: s.update(pricing={"input": 0}),
    "browser": lambda s: s["browserContext"].update(tabId=3),
    "time": lambda s: s.update(capturedAt=1),
    "unknown member": lambda s: s.update(extra=1),
    "missing member": lambda s: s.pop("permissionPolicy"),
    "wrong type": lambda s: s.update(modelId=7),
    "digest": lambda s: s.update(digest="0" * 64),
}


@pytest.mark.parametrize("what", ALTERED)
def test_an_altered_snapshot_is_refused(what: str) -> None:
    snapshot = made()
    kept = snapshot["digest"]
    ALTERED[what](snapshot)
    with pytest.raises(SnapshotInvalid):
        check(snapshot, expected_digest=kept)


@pytest.mark.parametrize("what", [name for name in ALTERED if name not in ("unknown member", "wrong type")])
def test_one_who_works_out_the_digest_anew_is_refused_too(what: str) -> None:
    """The run's row keeps the digest a second time."""
    snapshot = made()
    kept = snapshot["digest"]
    ALTERED[what](snapshot)
    snapshot["digest"] = sha({name: value for name, value in snapshot.items() if name != "digest"})
    with pytest.raises(SnapshotInvalid):
        check(snapshot, expected_digest=kept if snapshot["digest"] != kept else "0" * 64)


def test_another_input_is_refused() -> None:
    with pytest.raises(SnapshotInvalid, match="input"):
        check(made(), turn_input={"content": [{"type": "text", "text": "Something else"}]})


@pytest.mark.parametrize("tools", [{}, {"search": {**TOOL, "execution": {"kind": "mcp"}}}, {"other": TOOL}])
def test_a_tool_that_would_be_executed_otherwise_is_refused(tools: dict[str, Any]) -> None:
    with pytest.raises(SnapshotInvalid, match="search"):
        check(made(), tools_now=tools)


def test_a_tool_with_new_words_is_the_same_tool() -> None:
    """What the model is told stands in the snapshot; what is done must be what it was."""
    check(made(), tools_now={"search": {**TOOL, "description": "Better words"}})


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_not_guessed_at(version: object) -> None:
    with pytest.raises(SnapshotUnsupported):
        check({**made(), "snapshotVersion": version})


@pytest.mark.parametrize("text", [None, "", "{", "[]", '"text"', "null"])
def test_a_run_without_a_readable_snapshot_is_refused(text: str | None) -> None:
    with pytest.raises(SnapshotInvalid):
        environment.read(text)


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


OVER: dict[str, dict[str, Any]] = {
    "skills": {"skills": [{**SKILL, "id": f"s{n}"} for n in range(129)]},
    "tools": {"tools": [{**TOOL, "name": f"t{n}"} for n in range(257)]},
    "bytes of a skill": {"skills": [{**SKILL, "body": "x" * (256 * 1024 + 1)}]},
    "bytes of skills": {"skills": [{**SKILL, "id": f"s{n}", "body": "x" * 210_000} for n in range(5)]},
    "bytes of a tool's schema": {"tools": [{**TOOL, "parameters": {"description": "x" * (128 * 1024)}}]},
    "bytes of system prompt": {"system_prompt": "\u00e9" * (128 * 1024 + 1)},
    "bytes,": {"parameters": {"a": "x" * (2 * 1024 * 1024)}},
    "nests deeper": {"parameters": _deep(64)},
}


@pytest.mark.parametrize("what", OVER)
def test_what_is_over_a_limit_is_refused_by_its_name(what: str) -> None:
    with pytest.raises(SnapshotInvalid) as refused:
        made(**OVER[what])
    assert what.rstrip(",") in refused.value.message


WITHIN: dict[str, dict[str, Any]] = {
    "skills": {"skills": [{**SKILL, "id": f"s{n}"} for n in range(128)]},
    "tools": {"tools": [{**TOOL, "name": f"t{n}"} for n in range(256)], "skills": []},
    "a skill": {"skills": [{**SKILL, "body": "x" * (256 * 1024)}]},
    "prompt": {"system_prompt": "\u00e9" * (128 * 1024)},
    "depth": {"parameters": _deep(61)},
}


@pytest.mark.parametrize("what", WITHIN)
def test_what_is_just_within_is_taken(what: str) -> None:
    snapshot = made(**WITHIN[what])
    tools = {str(tool["name"]): tool for tool in snapshot["toolCatalog"]}
    check(snapshot, tools_now=tools)


def test_the_refusals_are_for_good() -> None:
    """`snapshot_invalid` and `snapshot_unsupported`: trying again does not help."""
    for error, code in ((SnapshotInvalid("x"), "snapshot_invalid"), (SnapshotUnsupported("x"), "snapshot_unsupported")):
        assert isinstance(error, SidekeepError)
        assert (error.code, error.retryable) == (code, False)
