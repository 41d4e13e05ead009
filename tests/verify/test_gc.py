"""`sidekeep gc`: what nobody needs goes, in numbers; what somebody needs stays."""

import json
from pathlib import Path
from typing import Any

from sidekeep.model.limits import DAY
from support.damage import behind_its_back, check, rows, sidekeep
from support.stores import temporary_store

Made = dict[str, Any]


def collected(state: Path) -> dict[str, Any]:
    done = sidekeep(state, "gc", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_nothing_to_let_go(state: Path) -> None:
    """A store without waste loses nothing."""
    before = rows(state)
    done = collected(state)
    assert {name: count for name, count in done.items() if count and name != "pages"} == {}
    assert rows(state) == before


def test_each_kind(made: Made, state: Path) -> None:
    """E53: expired receipts, old trash with its bytes, unfinished uploads and orphans go and are counted; afterwards
    no orphan bytes are left, and bytes that something still names stay."""
    with temporary_store(state) as store:
        host = store.open()
        host.ack("attachment.begin", kind="page_text", mime="text/plain", size=10, provenance="page", trust="untrusted")
        host.ack("thread.delete", threadId=made["other"])
    with behind_its_back(state) as db:
        db.execute("UPDATE threads SET deleted_at = 1 WHERE deleted_at IS NOT NULL")
        db.execute("UPDATE command_receipts SET expires_at = 1 WHERE command_type = 'node.append'")
        db.execute("UPDATE attachments SET created_at = created_at - ? WHERE state = 'uploading'", (2 * DAY,))
        db.execute("INSERT INTO blobs (size, created_at, used_at) VALUES (5, 1, 1)")
        db.execute("INSERT INTO blob_chunks (k, bytes) VALUES (9000 << 20, zeroblob(100))")
    appended = sum(1 for key in rows(made["state"]) if key[0] == "nodes")
    done = collected(state)
    assert done["threads"] == 2
    assert done["uploads"] == 1
    assert done["orphans"] == 2
    assert 0 < done["receipts"] <= appended
    assert done["bytes"] > 384_000
    after = rows(state)
    assert ("threads", made["other"]) not in after
    assert ("attachments", made["file"]) not in after
    assert after[("attachments", made["part"])] == rows(made["state"])[("attachments", made["part"])]
    report = check(state)
    assert report.sound, report.shown()
    assert report.checked["blobs"] == 1
    assert collected(state)["orphans"] == 0


def test_the_quota(made: Made, state: Path) -> None:
    """Over the quota what was captured in passing goes, by its last use; uploads and kept pages stay."""
    with temporary_store(state) as store:
        store.open().ack("settings.set", patch={"attachments.limit_bytes": 1_048_576})
    with behind_its_back(state) as db:
        # The same file, three times, as captured in passing: big on paper, which is what the quota counts.
        for number in range(3):
            db.execute(
                "INSERT INTO blobs (sha256, size, created_at, used_at) VALUES (?, 600000, ?, ?)",
                (f"{number:064x}", number, number),
            )
            db.execute(
                "INSERT INTO attachments "
                "(id, thread, blob, state, kind, mime, size, sha256, trust, provenance, created_at) "
                "SELECT ?, k, (SELECT max(k) FROM blobs), 'stored', 'screenshot', 'image/png', 600000, ?, 'untrusted', "
                "'page', ? FROM threads WHERE id = ?",
                (f"00000000-0000-4000-8000-00000000000{number}", f"{number:064x}", number, made["talk"]),
            )
    assert collected(state)["evicted"] == 2
    after = rows(state)
    states = [after[("attachments", f"00000000-0000-4000-8000-00000000000{n}")][4] for n in range(3)]
    assert states == ["evicted", "evicted", "stored"]
    assert after[("attachments", made["file"])][4] == after[("attachments", made["part"])][4] == "stored"


def test_room_is_given_back(made: Made, state: Path) -> None:
    """Free pages go back to the disk when nobody uses the store, and stay when somebody does."""
    with behind_its_back(state) as db:
        db.execute("CREATE TABLE waste (b)")
        db.execute("INSERT INTO waste SELECT zeroblob(1000000) FROM json_each('[1,2,3,4]')")
    with behind_its_back(state) as db:
        db.execute("DROP TABLE waste")
    before = rows(state)
    with temporary_store(state) as store:
        store.open()
        kept = collected(state)["pages"]
        assert kept["returnedBytes"] == 0
        assert "in use" in kept["kept"]
    size = (state / "sidekeep.db").stat().st_size
    done = collected(state)["pages"]
    assert done["returnedBytes"] >= 4_000_000
    assert (state / "sidekeep.db").stat().st_size <= size - 4_000_000
    assert rows(state) == before
    assert check(state).sound


def test_changes_go_from_the_front(made: Made, state: Path) -> None:
    """A clock that was wrong for a while leaves no gap among the changes: the oldest go, in order, and nothing else."""
    with behind_its_back(state) as db:
        (last,) = db.execute("SELECT max(seq) FROM changes").fetchone()
        db.execute("UPDATE changes SET at = 1 WHERE seq <= 20 OR seq BETWEEN 40 AND 50")
    assert collected(state)["changes"] == 20
    with behind_its_back(state) as db:
        left = [seq for (seq,) in db.execute("SELECT seq FROM changes WHERE seq <= ? ORDER BY seq", (last,))]
    assert left == list(range(21, last + 1))
    assert check(state).sound
    with behind_its_back(state) as db:
        db.execute("UPDATE changes SET at = 1")
        (last,) = db.execute("SELECT max(seq) FROM changes").fetchone()
    collected(state)
    with behind_its_back(state) as db:
        assert db.execute("SELECT count(*), max(seq) FROM changes WHERE at = 1").fetchone() == (1, last)
