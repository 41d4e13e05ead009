"""What a user sets up: settings, connections, secrets, rules, folders, presets, memories; and who hears of it."""

import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from support.damage import behind_its_back
from support.hostclient import HostClient
from support.stores import Store, text

CANARY = "canary-7f3a91c2-sk-live"


@pytest.fixture
def desk(store: Store) -> HostClient:
    """A host on an empty store."""
    return store.open()


def changed(port: HostClient, kind: str, identity: str) -> dict[str, Any]:
    """`store.changed` with all its members."""
    event = port.event("store.changed", where=lambda told: (told["kind"], told["id"]) == (kind, identity))
    assert set(event) == {"type", "kind", "id", "revision"}
    assert event["revision"] > 0
    return event


# ---- settings ----


def test_settings_are_set_by_their_dotted_keys_and_null_brings_the_default_back(desk: HostClient) -> None:
    """`settings.set` / `settings.get`; each key that changed is told."""
    before = desk.query("settings.get")["settings"]
    assert before["attachments.limit_bytes"] == 200 * 1024 * 1024
    assert before["policy.default"] == "untrusted"
    assert "models.default" not in before  # absent: decided when it is needed
    model = {"connectionId": "local", "modelId": "m"}
    patch = {"models.default": model, "ui.theme": "dark", "capture.blocked_sites": ["bank.example"]}
    desk.ack("settings.set", patch=patch)
    assert desk.query("settings.get", keys=list(patch))["settings"] == patch
    first = changed(desk, "settings", "ui.theme")
    desk.ack("settings.set", patch={"ui.theme": None, "models.default": None})
    assert desk.query("settings.get")["settings"] == {**before, "capture.blocked_sites": ["bank.example"]}
    assert changed(desk, "settings", "ui.theme")["revision"] > first["revision"]


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        ({"no.such.key": 1}, "no.such.key"),
        ({"ui.theme": "pink"}, "ui.theme"),
        ({"ui.theme": ["dark"]}, "ui.theme"),
        ({"attachments.limit_bytes": True}, "attachments.limit_bytes"),
        ({"attachments.limit_bytes": 1.5}, "attachments.limit_bytes"),
        ({"attachments.limit_bytes": -1}, "attachments.limit_bytes"),
        ({"models.default": {"connectionId": "local"}}, "models.default"),
        ({"models.default": "local"}, "models.default"),
        ({"models.task": {"connectionId": "local", "modelId": "m" * 201}}, "models.task"),
        ({"capture.blocked_sites": "a.example"}, "capture.blocked_sites"),
        ({"policy.default": "never"}, "policy.default"),
        ({"": 1}, ""),
    ],
)
def test_an_unknown_key_or_a_wrong_value_is_refused_by_name(port: HostClient, patch: dict, named: str) -> None:
    """An unknown key is refused by name; nothing of the patch is set."""
    refusal = port.refused("settings.set", patch={"instructions.global": "half", **patch})
    assert refusal["code"] == "invalid_command"
    assert named in refusal["message"]
    assert port.query("settings.get", keys=["instructions.global"])["settings"] == {"instructions.global": ""}
    assert port.refused("settings.get", keys=["no.such.key"])["code"] == "invalid_command"


@pytest.mark.parametrize(
    ("op", "members"),
    [
        ("settings.set", {"patch": {"k" * 2_000_000: 1}}),
        ("settings.get", {"keys": ["k" * 2_000_000]}),
        ("connection.save", {"connection": {"name": "n", "kind": "extract", "enabled": True,
                                            "headers": {"token" * 400_000: "v"}}}),
    ],
)  # fmt: skip
def test_a_refusal_is_short_whatever_it_quotes(port: HostClient, op: str, members: dict[str, Any]) -> None:
    """A refusal is kept with its receipt and shown to a person: it repeats no megabytes of what came in."""
    refusal = port.refused(op, **members)
    assert refusal["code"] == "invalid_command"
    assert 0 < len(refusal["message"]) <= 1001


DAMAGED = ["{nope", "", "null", "[1,2]", "7", '"x"', "-1", "true", "{}", "\udcff"]


@pytest.mark.parametrize("value", DAMAGED)
def test_a_damaged_row_is_the_default_again(store: Store, value: str) -> None:
    """A row that is no JSON, or not of its kind, takes neither the other settings nor any op with it."""
    first = store.open()
    whole = first.query("settings.get")["settings"]
    first.ack("settings.set", patch={"ui.theme": "dark"})
    first.close()
    with behind_its_back(store.state) as db:
        for key in whole:
            if key != "ui.theme":
                db.execute(
                    "INSERT INTO settings (key, value, updated_at) VALUES (?, CAST(? AS TEXT), 0)",
                    (key, value.encode(errors="surrogateescape")),
                )
    host = store.open()
    found = host.query("settings.get")["settings"]
    assert found["ui.theme"] == "dark"
    assert found["policy.default"] == "untrusted"
    assert found["attachments.limit_bytes"] == host.query("storage.status")["attachmentsLimit"] == 200 * 1024 * 1024
    assert all(type(found[key]) is type(whole[key]) for key in whole)
    assert found["capture.blocked_sites"] == ["*"]  # what forbids something forbids everything
    page = {"url": "https://example.org/", "title": "t", "capturedAt": 1, "parts": []}
    refusal = host.refused("page.capture", **page)
    assert refusal["code"] == "needs_permission"
    assert "Set it anew" in refusal["message"]
    thread = host.ack("thread.create")["threadId"]
    host.ack("turn.submit", threadId=thread, input=text("Go on."))
    host.ack("settings.set", patch={"capture.blocked_sites": ["bank.example"]})
    host.ack("page.capture", **page)
    assert not host.seen("error")


# ---- connections and secrets ----


def test_two_connections_are_there_from_the_start(desk: HostClient) -> None:
    """`local` and `extract`; deleting one of them brings it back as it was."""
    found = desk.query("connection.list")["connections"]
    assert [connection["id"] for connection in found] == ["local", "extract"]
    assert all(connection["enabled"] for connection in found)
    desk.ack("connection.save", connection={"id": "local", "name": "Mine", "kind": "local", "enabled": False})
    assert desk.query("connection.list")["connections"][0]["name"] == "Mine"
    desk.ack("connection.delete", connectionId="local")
    assert desk.query("connection.list")["connections"][0] == found[0]
    other = {"id": "local", "name": "x", "kind": "openai", "baseUrl": "https://a.example/v1", "enabled": True}
    assert desk.refused("connection.save", connection=other)["code"] == "invalid_command"


def test_every_template_can_be_saved_as_it_is(desk: HostClient) -> None:
    """Endpoints that people know, as data for the panel; one's own lacks an address, which is then asked for."""
    templates = {template["id"]: template for template in desk.query("connection.list")["templates"]}
    assert list(templates) == [
        "anthropic", "openai", "openrouter", "deepseek", "ollama", "lmstudio", "llamacpp", "custom",
    ]  # fmt: skip
    for template in templates.values():
        members = {name: template[name] for name in ("name", "kind", "baseUrl", "quirks") if name in template}
        if template["id"] == "custom":
            refusal = desk.refused("connection.save", connection={**members, "enabled": True})
            assert (refusal["code"], "baseUrl" in refusal["message"]) == ("invalid_command", True)
        else:
            desk.ack("connection.save", connection={**members, "enabled": True})
    assert {name for name, template in templates.items() if template["key"] == "required"} == {
        "anthropic", "openai", "openrouter", "deepseek",
    }  # fmt: skip


def test_a_connection_comes_back_as_it_was_saved(desk: HostClient) -> None:
    """`connection.save` → `connectionId`; saved again under its id it is changed."""
    connection = {
        "name": "Work",
        "kind": "openai",
        "baseUrl": "https://api.example/v1",
        "secretRefs": ["work-key"],
        "headers": {"X-Title": "Sidekeep", "Authorization": {"secret": "work-key"}},
        "modelIds": ["a", "b"],
        "models": [{"id": "a", "capabilities": {"vision": True}, "pricing": {"input": 1, "output": 2.5}}],
        "enabled": True,
        "quirks": {"noStreamUsage": True},
    }  # fmt: skip
    identity = desk.ack("connection.save", connection=connection)["connectionId"]
    told = changed(desk, "connections", identity)
    (found,) = [one for one in desk.query("connection.list")["connections"] if one["id"] == identity]
    assert found == {**connection, "id": identity, "revision": 1}
    desk.ack("connection.save", connection={**connection, "id": identity, "enabled": False})
    assert changed(desk, "connections", identity)["revision"] == told["revision"] + 1
    assert desk.ack("connection.delete", connectionId=identity)
    changed(desk, "connections", identity)
    assert desk.refused("connection.delete", connectionId=identity)["code"] == "not_found"


@pytest.mark.parametrize(
    "header",
    ["Authorization", "x-api-key", "X-Auth-Token", "Cookie", "api-key", "Proxy-Authorization", "client_secret"],
)
def test_a_literal_header_named_like_a_credential_is_refused(port: HostClient, header: str) -> None:
    """Literal headers named like credentials → `invalid_command`; as a secret they are taken."""
    connection = {"name": "c", "kind": "openai", "baseUrl": "https://a.example/v1", "enabled": True}
    refusal = port.refused("connection.save", connection={**connection, "headers": {header: CANARY}})
    assert refusal["code"] == "invalid_command"
    assert header in refusal["message"]
    assert CANARY not in str(refusal)
    port.ack("connection.save", connection={**connection, "headers": {header: {"secret": "k"}}})


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("https://api.example/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost:11434", True),
        ("http://[::1]:8080/", True),
        ("HTTP://127.0.0.1:8080/v1", True),
        ("http://api.example/v1", False),
        ("http://127.0.0.1.evil.example/", False),
        ("http://localhost.evil.example/", False),
        ("http://127.0.0.1@evil.example/", False),
        ("https://user:pass@api.example/", False),
        ("https://", False),
        ("", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("api.example", False),
        ("https://api.example\\@evil.example/", False),
        ("https://api.example/\n", False),
        ("http://localhost\\.evil.example/", False),
        ("http://localhost?.evil.example/", True),  # the host is this machine; the rest is a query
        ("http://localhost#.evil.example/", False),
        ("http://127.1/", False),
        ("http://2130706433/", False),
        ("http://[::ffff:127.0.0.1]/", True),
        ("https://api.example:99999/", False),
        ("https:// api.example", False),
    ],
)
def test_an_address_is_https_or_this_machine(port: HostClient, address: str, taken: bool) -> None:
    """A key is never sent in clear to another machine, whatever the address is made to look like."""
    connection = {"name": "c", "kind": "openai", "baseUrl": address, "enabled": True}
    answer = port.ask("connection.save", connection=connection)
    assert (answer["type"] == "command.ack") is taken, answer


def test_a_secrets_value_never_comes_out(store: Store) -> None:
    """E72: in no answer, receipt, event, log or file: a grep for a canary finds nothing."""
    desk = store.open()
    first = desk.ack("secret.set", name="work-key", value=CANARY)
    again = desk.ack("secret.set", name="work-key", value=CANARY, submissionId=first["submissionId"])
    assert again == first
    desk.ack(
        "connection.save",
        connection={
            "name": "c", "kind": "openai", "baseUrl": "https://a.example/v1", "secretRefs": ["work-key"],
            "headers": {"X-Key": {"secret": "work-key"}}, "enabled": True,
        },
    )  # fmt: skip
    (listed,) = desk.query("secret.list")["secrets"]
    assert set(listed) == {"name", "createdAt", "updatedAt", "usedBy"}
    assert (listed["name"], len(listed["usedBy"])) == ("work-key", 1)
    desk.refused("secret.set", name="x", value=CANARY, surplus=CANARY[:3])
    desk.refused("secret.set", name="", value=CANARY)
    desk.refused("secret.set", name=[CANARY], value=7)
    changed(desk, "secrets", "work-key")
    assert CANARY not in str(desk.events)
    desk.close()
    store.hosts.remove(desk)
    done = subprocess.run(["grep", "-rlF", CANARY, str(store.state)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_secret_is_deleted_by_name(desk: HostClient) -> None:
    """`secret.delete`; one that is not there is `not_found`."""
    desk.ack("secret.set", name="k", value="v")
    desk.ack("secret.delete", name="k")
    assert desk.query("secret.list")["secrets"] == []
    assert desk.refused("secret.delete", name="k")["code"] == "not_found"
    assert desk.refused("secret.set", name="k", value="")["code"] == "invalid_command"


def test_a_secret_that_is_set_again_keeps_its_age(desk: HostClient) -> None:
    """`createdAt` is the first time, `updatedAt` the last."""
    desk.ack("secret.set", name="k", value="v")
    (first,) = desk.query("secret.list")["secrets"]
    desk.ack("secret.set", name="k", value="w")
    (second,) = desk.query("secret.list")["secrets"]
    assert second["createdAt"] == first["createdAt"]
    assert second["updatedAt"] >= first["updatedAt"]


# ---- rules, folders, presets, memories, jobs ----


def test_a_rule_stands_once_for_a_tool_and_an_origin(desk: HostClient) -> None:
    """`rule.save` / `rule.list` / `rule.delete`."""
    rule = {"tool": "read_page", "origin": "https://a.example", "verdict": "ask"}
    identity = desk.ack("rule.save", rule=rule)["ruleId"]
    first = changed(desk, "rules", identity)
    assert desk.ack("rule.save", rule={**rule, "verdict": "deny"})["ruleId"] == identity
    assert changed(desk, "rules", identity)["revision"] == first["revision"] + 1
    (listed,) = desk.query("rule.list")["rules"]
    assert {name: listed[name] for name in ("id", "tool", "origin", "verdict")} == {
        **rule,
        "verdict": "deny",
        "id": identity,
    }
    assert desk.refused("rule.save", rule={**rule, "verdict": "maybe"})["code"] == "invalid_command"
    desk.ack("rule.delete", ruleId=identity)
    changed(desk, "rules", identity)
    assert desk.query("rule.list")["rules"] == []
    assert desk.refused("rule.delete", ruleId=identity)["code"] == "not_found"


def test_a_rule_that_takes_anothers_place_is_told_of_both(desk: HostClient) -> None:
    """Two ids for one tool and origin: the later stands, and whoever showed the other hears that it is gone."""
    rule = {"tool": "t", "origin": "https://a.example", "verdict": "ask"}
    first = desk.ack("rule.save", rule=rule)["ruleId"]
    changed(desk, "rules", first)
    second = desk.ack("rule.save", rule={**rule, "id": str(uuid.uuid4()), "verdict": "allow"})["ruleId"]
    changed(desk, "rules", first)
    changed(desk, "rules", second)
    assert [(one["id"], one["verdict"]) for one in desk.query("rule.list")["rules"]] == [(second, "allow")]


@pytest.mark.parametrize("family", ["folder", "preset"])
def test_folders_and_presets_are_kept_by_id(desk: HostClient, family: str) -> None:
    """`list`, `save`, `delete`; an id of the client is kept, and saving again changes."""
    member = f"{family}Id"
    identity = desk.ack(f"{family}.save", **{family: {"name": "One"}})[member]
    first = changed(desk, f"{family}s", identity)
    assert desk.ack(f"{family}.save", **{family: {"id": identity, "name": "Renamed"}})[member] == identity
    assert changed(desk, f"{family}s", identity)["revision"] == first["revision"] + 1
    own = desk.ack(f"{family}.save", **{family: {"id": "own id", "name": "Two"}})[member]
    assert own == "own id"
    listed = {one["id"]: one["name"] for one in desk.query(f"{family}.list")[f"{family}s"]}
    assert listed == {identity: "Renamed", "own id": "Two"}
    desk.ack(f"{family}.delete", **{member: identity})
    changed(desk, f"{family}s", identity)
    assert desk.refused(f"{family}.delete", **{member: identity})["code"] == "not_found"
    assert desk.refused(f"{family}.save", **{family: {}})["code"] == "invalid_command"


def test_a_folder_that_goes_leaves_its_threads(desk: HostClient) -> None:
    """Deletes a folder; its threads stay and leave it, with a new revision each; also archived and trashed ones."""
    folder = desk.ack("folder.save", folder={"name": "f"})["folderId"]
    threads = [desk.ack("thread.create", folderId=folder)["threadId"] for _ in range(3)]
    desk.ack("thread.update", threadId=threads[1], patch={"archived": True})
    desk.ack("thread.delete", threadId=threads[2])
    desk.ack("folder.delete", folderId=folder)
    for thread in threads[:2]:
        told = desk.event("thread.updated", threadId=thread, where=lambda event: "folderId" in event["patch"])
        assert told["patch"]["folderId"] is None
    assert desk.query("thread.list", folderId=folder, archived="all")["threads"] == []
    desk.ack("thread.restore", threadId=threads[2])
    assert {row["id"] for row in desk.query("thread.list", archived="all")["threads"]} == set(threads)


def test_a_memory_has_one_value_a_key(desk: HostClient) -> None:
    """`memory.set` → `memoryId`; the same key again changes it; another id for a used key → `conflict`."""
    identity = desk.ack("memory.set", key="name", value="Ada")["memoryId"]
    changed(desk, "memories", identity)
    assert desk.ack("memory.set", key="name", value="Ada L.")["memoryId"] == identity
    refusal = desk.refused("memory.set", memoryId=str(uuid.uuid4()), key="name", value="x")
    assert refusal["code"] == "conflict"
    renamed = desk.ack("memory.set", memoryId=identity, key="full name", value="Ada Lovelace")
    assert renamed["memoryId"] == identity
    (listed,) = desk.query("memory.list")["memories"]
    assert (listed["key"], listed["value"], listed["revision"]) == ("full name", "Ada Lovelace", 3)
    desk.ack("memory.delete", memoryId=identity)
    assert desk.query("memory.list")["memories"] == []


def test_nothing_is_a_job_yet(desk: HostClient) -> None:
    """`job.list` on a new store; a job that is not there cannot be cancelled."""
    assert desk.query("job.list") == {"jobs": []}
    assert desk.refused("job.cancel", jobId=str(uuid.uuid4()))["code"] == "not_found"


def test_storage_is_told_in_bytes(store: Store) -> None:
    """`storage.status` → attachmentsBytes, attachmentsLimit, evictableBytes, databaseBytes, blobs, warn."""
    desk = store.open()
    found = desk.query("storage.status")
    assert set(found) == {
        "attachmentsBytes", "attachmentsLimit", "evictableBytes", "databaseBytes", "blobs", "warn",
    }  # fmt: skip
    assert (found["attachmentsBytes"], found["evictableBytes"], found["blobs"], found["warn"]) == (0, 0, 0, False)
    assert found["attachmentsLimit"] == 200 * 1024 * 1024
    on_disk = sum(path.stat().st_size for path in store.state.glob("sidekeep.db*"))
    assert found["databaseBytes"] == on_disk
    desk.ack("settings.set", patch={"attachments.limit_bytes": 1024 * 1024})
    assert desk.query("storage.status")["attachmentsLimit"] == 1024 * 1024


def test_the_shell_sees_what_the_panel_saved(store: Store) -> None:
    """One store for every door: what a host acknowledged, the command line reads."""
    desk = store.open()
    thread = desk.ack("thread.create", title="From the panel")["threadId"]
    desk.ack("node.append", threadId=thread, nodeType="user_message", payload=text("hello"))
    done = subprocess.run(
        [str(Path(sys.executable).parent / "sidekeep"), "status", "--json"],
        env={"SIDEKEEP_STATE": str(store.state), "HOME": str(store.state)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert str(desk.process.pid) in done.stdout, done.stderr


def test_the_local_model_says_whether_its_parts_are_here(port: HostClient) -> None:
    """The panel offers extracts and names the command where they are not; other kinds need no parts."""
    listed = {connection["id"]: connection for connection in port.query("connection.list")["connections"]}
    assert listed["local"]["installed"] is True
    assert "installed" not in listed["extract"]
