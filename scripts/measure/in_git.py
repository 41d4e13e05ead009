"""P12: a turn's commit in the repository of its conversation, against the git program given the same files."""

import os
import subprocess
import time
from pathlib import Path

from measure.filled import message, opened
from measure.rounds import Figure, at_least, at_most, in_turns, within
from sidekeep.model.clock import now_ms
from sidekeep.model.ids import new_id
from sidekeep.sessions import gitdir
from sidekeep.sessions.archive import Archive
from sidekeep.sessions.commit import Known, bring_up
from sidekeep.store import session_repos, threads, tree
from sidekeep.store.tx import Tx

FEW, MANY = 50, 5000
BURST = 10


class Session:
    """A conversation that grows turn by turn, and its repository."""

    def __init__(self, state: Path) -> None:
        self._store, self._doorway = opened(state)
        self._archive = Archive(self._store.places, self._doorway.run, self._doorway.run, print)
        self._id = self._doorway.run(lambda tx: threads.create(tx, {}).id)
        self.turns = 0
        self._known: Known | None = None
        self.grow(1)
        self.folder = Path(str(self._archive.folder_of(self._id)))

    def grow(self, turns: int) -> None:
        for _ in range(turns):
            self._doorway.run(self._turn)
            self._archive.commit(self._id, rest=False)
            if self.turns % 100 == 0:
                self._archive.tidy(self._id)

    def _turn(self, tx: Tx) -> None:
        row = threads.live(tx, self._id)
        asked = tree.append(tx, row, row.leaf, "user_message", message(self.turns))
        tree.append(tx, row, asked.k, "assistant_message", message(self.turns, "assistant_message"))
        tx.run(_RUN, (new_id(), row.k, new_id(), tx.now, row.leaf))
        tx.run("UPDATE runs SET state = 'completed' WHERE thread = ? AND state = 'queued'", (row.k,))
        self.turns += 1

    def commit(self) -> float:
        """Milliseconds of the Git work of one turn, from what the store says to the branch that leads to it."""
        self._doorway.run(self._turn)
        lack = self._doorway.run(lambda tx: session_repos.lacking(tx, self._id))
        started = time.perf_counter()
        step = bring_up(str(self.folder), lack, lambda _upload: iter(()), rest=False, now=now_ms(), known=self._known)
        spent = (time.perf_counter() - started) * 1000
        assert len(step.commits) == 1
        self._known = step.known
        self._doorway.run(
            lambda tx: session_repos.settle(tx, self._id, step.position, step.commits, step.done, step.marks)
        )
        return spent

    def beyond_content(self) -> float:
        """KiB of `.git` a commit beyond the size of the files committed."""
        self._archive.tidy(self._id)
        kept = sum(path.stat().st_size for path in (self.folder / ".git").rglob("*") if path.is_file())
        content = sum(
            path.stat().st_size for name in ("history", "context") for path in (self.folder / name).rglob("*.json")
        )
        return (kept - content) / 1024 / self.turns

    def close(self) -> None:
        self._store.close()


_RUN = """
INSERT INTO runs (id, thread, turn_id, state, client_id, submission_id, fence, created_at, updated_at, finished_at,
  last_node, input) VALUES (?, ?, ?, 'queued', 'bench', 'bench', 0, 0, 0, ?, ?, '{}')
"""


class Program:
    """The git program on files of the same number and size: write them, add them, commit."""

    def __init__(self, folder: Path, files: dict[str, bytes]) -> None:
        self._folder = folder
        folder.mkdir()
        self._environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "bench@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }  # fmt: skip
        self._git("init", "-q")
        self._git("config", "gc.auto", "0")
        self._number = 0
        for name, content in files.items():
            self._write(name, content)
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "start")

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self._folder, env=self._environment, check=True)

    def _write(self, name: str, content: bytes) -> str:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return name

    def commit(self) -> float:
        self._number += 1
        started = time.perf_counter()
        names = [self._write(f"history/more/{self._number:06d}-{n}.json", os.urandom(450)) for n in range(2)]
        names += [
            self._write(f"context/more/{self._number:06d}.json", os.urandom(200)),
            self._write("meta.json", os.urandom(500)),
        ]
        self._git("add", *names)
        self._git("commit", "-q", "-m", "turn")
        return (time.perf_counter() - started) * 1000


def p12(folder: Path, rounds: int) -> list[Figure]:
    """Few commits and many, in turns with the git program on as many files as the smaller session has."""
    few, many = Session(folder / "few"), Session(folder / "many")
    few.grow(FEW - 1)
    many.grow(MANY - 1)
    files = {
        str(path.relative_to(few.folder)): path.read_bytes()
        for path in few.folder.rglob("*.json")
        if ".git" not in path.parts
    }
    program = Program(folder / "program", files)
    gitdir.git()
    measures = {"few": few.commit, "many": many.commit, "program": program.commit}
    in_turns(measures, 5)
    found = in_turns(measures, BURST * rounds)
    beyond = many.beyond_content()
    few.close()
    many.close()
    return [
        at_least("P12", "commits of a turn in the time of one", "×", 1 / found["few"], 1 / found["program"],
                 "git program", 8),
        at_most("P12", "commit of a turn after 5,000", "ms", found["many"], found["few"], "after 50", 1.3),
        within("P12", ".git beyond content, a commit of 5,000", "KiB", beyond, 5),
    ]  # fmt: skip
