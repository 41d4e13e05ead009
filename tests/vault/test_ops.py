"""Secrets through the port and the shell: values go in, and lie nowhere in clear (expectation E72)."""

import json
import subprocess
import sys
from pathlib import Path

from sidekeep.model.places import Places
from support.hostclient import HostClient

CANARY = "sk-canary-5f1d9c"


def sidekeep(places: Places, *words: str, given: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "sidekeep"), "vault", *words, "--state", places.state],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def in_clear(folder: Path) -> list[str]:
    """Files that hold the canary; read by another process, as an open() here would drop SQLite's locks."""
    found = subprocess.run(["grep", "-rlaF", CANARY, str(folder)], capture_output=True, text=True, check=False)
    return found.stdout.split()


def test_through_the_port(places: Places) -> None:
    """Set, listed by name and age, sealed anew, locked and opened: the value is in no answer and in no file."""
    with HostClient(places.state) as host:
        host.initialize()
        host.ready()
        host.ack("secret.set", name="openai", value=CANARY)
        host.ack("connection.save", connection={
            "name": "Mine", "kind": "openai", "baseUrl": "https://api.example/v1", "enabled": True,
            "secretRefs": ["openai"],
        })  # fmt: skip
        (secret,) = host.query("secret.list")["secrets"]
        assert (secret["name"], len(secret["usedBy"])) == ("openai", 1)
        assert host.query("vault.status") == {"locked": False, "place": "file"}
        host.ack("vault.rekey", passphrase="open sesame")
        assert host.query("vault.status") == {"locked": False, "place": "passphrase"}
        host.ack("vault.lock")
        assert host.refused("secret.set", name="other", value=CANARY)["code"] == "vault_locked"
        refusal = host.refused("vault.unlock", passphrase="wrong")
        assert (refusal["code"], refusal["retryable"]) == ("vault_locked", True)
        host.ack("vault.unlock", passphrase="open sesame")
        host.ack("secret.set", name="other", value=CANARY)
        assert in_clear(Path(places.state).parent) == []
        assert not any(CANARY in json.dumps(event) or "open sesame" in json.dumps(event) for event in host.events)


def test_a_resend_of_a_secret(places: Places) -> None:
    """The same `secret.set` again is answered as before; with another value it is the same command."""
    with HostClient(places.state) as host:
        host.initialize()
        host.ready()
        submission = "0197a000-0000-7000-8000-000000000001"
        first = host.ack("secret.set", submissionId=submission, name="openai", value=CANARY)
        assert host.ask("secret.set", submissionId=submission, name="openai", value=CANARY) == first
        assert host.ask("secret.set", submissionId=submission, name="openai", value="sk-other") == first
        assert host.refused("secret.set", submissionId=submission, name="x", value=CANARY)["code"] == "invalid_command"


def test_in_the_shell(places: Places) -> None:
    """`sidekeep vault`: the value is read from the input, never printed, and the status says how it ended."""
    assert sidekeep(places, "set", "openai", given=CANARY + "\n")[0] == 0
    assert sidekeep(places, "set", "openai", given="\n")[0] == 2
    status, output, _ = sidekeep(places, "list", "--json")
    listed = json.loads(output)
    assert (status, [secret["name"] for secret in listed["secrets"]]) == (0, ["openai"])
    assert listed["vault"] == {"locked": False, "place": "file"}
    assert (
        json.loads(sidekeep(places, "rekey", "--passphrase", "--json", given="open sesame")[1])["place"] == "passphrase"
    )
    assert sidekeep(places, "lock")[0] == 0
    assert sidekeep(places, "set", "other", given="x")[0] == 3
    status, output, complaint = sidekeep(places, "unlock", given="wrong")
    assert (status, output, complaint) == (3, "", "Wrong passphrase.\n")
    assert sidekeep(places, "unlock", given="open sesame")[0] == 0
    assert sidekeep(places, "delete", "openai")[0] == 0
    assert sidekeep(places, "delete", "openai")[0] == 1
    assert in_clear(Path(places.state).parent) == []


def test_a_host_hears_of_it(places: Places) -> None:
    """A secret stored from the shell is news for every open port."""
    with HostClient(places.state) as host:
        host.initialize()
        host.ready()
        assert sidekeep(places, "set", "openai", given=CANARY) == (0, "openai is stored.\n", "")
        host.event("store.changed", where=lambda e: (e["kind"], e["id"]) == ("secrets", "openai"), timeout=5)
