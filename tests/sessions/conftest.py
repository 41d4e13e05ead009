"""What the tests of sessions share: a store in this process, conversations with turns that ended, and their archive."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.sessions.archive import Archive
from sidekeep.store import threads, tree
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx
from support.fixtures import running_store
from support.stores import said, text

__all__ = ["desk", "running_store"]


class Desk:
    """One store and the archive of its conversations."""

    def __init__(self, state: Path) -> None:
        self.store = open_store(Places(str(state)).make())
        self.doorway = Doorway(self.store)
        self.log: list[str] = []
        self.archive = self.fresh()

    def close(self) -> None:
        """Let the store go; may be called again."""
        if self.store.schema_lock >= 0:
            self.store.close()
            self.store.schema_lock = -1

    def fresh(self) -> Archive:
        """An archive that knows nothing yet, as after a start."""
        return Archive(self.store.places, self.doorway.run, self.doorway.run, self.log.append)

    def thread(self, **fields: Any) -> str:
        made: str = self.doorway.run(lambda tx: threads.create(tx, fields).id)
        return made

    def turn(self, thread_id: str, words: str = "hello", *, usage: str = '{"inputTokens":12,"outputTokens":3}') -> str:
        """A question, its answer, and a run that ended; returns the turn's id."""
        turn_id = new_id()

        def do(tx: Tx) -> None:
            row = threads.live(tx, thread_id)
            asked = tree.append(tx, row, row.leaf, "user_message", text(words))
            answer = tree.append(tx, row, asked.k, "assistant_message", said(f"about {words}"))
            tx.run(
                "INSERT INTO runs (id, thread, turn_id, state, client_id, submission_id, fence, created_at, updated_at,"
                " finished_at, user_node, last_node, input, usage, environment) "
                "VALUES (?, ?, ?, 'queued', 'c', 's', 0, 0, 0, ?, ?, ?, '{}', ?, '{\"modelId\":\"tiny-model\"}')",
                (new_id(), row.k, turn_id, tx.now, asked.k, answer.k, usage),
            )
            tx.run("UPDATE runs SET state = 'completed' WHERE turn_id = ?", (turn_id,))
            tx.finish()

        self.doorway.run(do)
        return turn_id

    def do(self, work: Any) -> Any:
        """Something in a transaction, with the touched threads written."""

        def whole(tx: Tx) -> Any:
            found = work(tx)
            tx.finish()
            return found

        return self.doorway.run(whole)

    def folder(self, thread_id: str) -> Path:
        return Path(str(self.archive.folder_of(thread_id)))

    def git(self, thread_id: str, *words: str) -> str:
        return git(self.folder(thread_id), *words)


def git(folder: Path, *words: str) -> str:
    """What the git program says of a repository."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path / "state")
    yield found
    found.close()
