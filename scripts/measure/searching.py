"""P9 and P14: a search in a large store against a small one and a plain scan; memory while 64 MiB are uploaded."""

import base64
import contextlib
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from measure.filled import in_groups, many_threads, opened
from measure.pipe import PipeHost
from measure.rounds import Figure, at_most, percentile, within
from sidekeep.model.clock import now_ms
from sidekeep.model.ids import new_id
from sidekeep.model.limits import CHUNK_BYTES, MIB
from sidekeep.store import search_index, tree
from sidekeep.store.doorway import Doorway
from sidekeep.store.tx import Tx

MANY, FEW, A_THREAD = 200_000, 2_000, 500
QUERIES = 60
IN_FLIGHT = 16
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшыьэюя")


class _Writer:
    """Texts of mixed scripts whose words are as unevenly common as words are."""

    def __init__(self) -> None:
        self._random = random.Random(9)
        self._words = [
            ["".join(self._random.choices(alphabet, k=self._random.randint(2, 9))) for _ in range(8000)]
            for alphabet in _ALPHABETS
        ]
        self._ideographs = [chr(0x4E00 + number) for number in range(3000)]

    def _some(self, of: list[str], most: int) -> list[str]:
        return [
            of[min(len(of), int(self._random.paretovariate(0.8))) - 1] for _ in range(self._random.randint(5, most))
        ]

    def text(self) -> str:
        kind = self._random.randrange(4)
        if kind == 3:
            return "\uff0c".join("".join(self._some(self._ideographs, 20)) for _ in range(self._random.randint(1, 10)))
        return " ".join(self._some(self._words[kind // 2], 80))

    def queries(self, texts: list[str]) -> list[str]:
        """A word, two words, and one to three ideographs, all of which stand somewhere."""
        found: list[str] = []
        while len(found) < QUERIES:
            parts = self._random.choice(texts).replace("\uff0c", " ").split()
            piece = self._random.choice(parts)
            if piece >= "\u4e00":
                start = self._random.randrange(len(piece))
                found.append(piece[start : start + 1 + len(found) % 3])
            else:
                found.append(piece if len(found) % 2 else f"{piece} {self._random.choice(parts)}")
        return found


def _filled(state: Path, count: int, writer: _Writer) -> tuple[str, list[str]]:
    """A store of so many messages, all indexed; its database and some of its texts."""
    store, doorway = opened(state)
    ids = many_threads(doorway, count // A_THREAD)
    kept: list[str] = []

    def add(tx: Tx, number: int) -> None:
        row = tx.thread(ids[number // A_THREAD])
        assert row is not None
        text = writer.text()
        if number % (count // 1000) == 0:
            kept.append(text)
        tree.append(tx, row, row.leaf, "user_message", {"content": [{"type": "text", "text": text}]})

    in_groups(doorway, count, add)
    _index(doorway, store.reader())
    database = store.places.database
    store.close()
    return database, kept


def _index(doorway: Doorway, reader: apsw.Connection) -> None:
    search_index.catch_up(doorway, lambda: Tx(reader, now_ms(), new_id))
    doorway.checkpoint()


def p9(folder: Path, rounds: int) -> list[Figure]:
    """Search over 200,000 messages against 2,000, and against a scan that only compares bytes."""
    writer = _Writer()
    many, large = folder / "p9-many", _filled(folder / "p9-many", MANY, writer)
    few, small = folder / "p9-few", _filled(folder / "p9-few", FEW, writer)
    asked = {many: writer.queries(large[1]), few: writer.queries(small[1])}
    waits: dict[Path, list[float]] = {many: [], few: []}
    scans: list[float] = []
    with contextlib.ExitStack() as stack:
        hosts = {state: stack.enter_context(PipeHost(state)) for state in asked}
        raw = stack.enter_context(contextlib.closing(apsw.Connection(large[0], flags=apsw.SQLITE_OPEN_READONLY)))
        for host in hosts.values():
            host.open()
        for turn in range(rounds + 1):
            for query in range(QUERIES):
                for state, host in hosts.items():
                    started = time.perf_counter()
                    host.ask({"type": "thread.search", "query": asked[state][query]})
                    # The first turn brings pages of the file into memory.
                    waits[state] += [(time.perf_counter() - started) * 1000] if turn else []
            started = time.perf_counter()
            raw.execute("SELECT count(*) FROM nodes WHERE payload LIKE ?", (f"%{asked[many][turn]}%",)).fetchall()
            scans.append((time.perf_counter() - started) * 1000)
    late = {state: percentile(found, 0.95) for state, found in waits.items()}
    middle = {state: percentile(found, 0.5) for state, found in waits.items()}
    return [
        at_most("P9", "search in 200,000 messages, p95", "ms", late[many], late[few], "in 2,000", 10),
        at_most(
            "P9", "search in 200,000 messages, p50", "ms", middle[many], percentile(scans, 0.5), "plain scan", 0.01
        ),
    ]


def p14(folder: Path, _rounds: int) -> list[Figure]:
    """The memory of a host at rest, and what an upload of 64 MiB adds, 16 chunks in flight."""
    with PipeHost(folder / "p14") as host:
        host.open()
        _upload(host, 1)
        rest = _mib(host, "VmRSS")
        _upload(host, 64)
        peak = _mib(host, "VmHWM")
    return [
        within("P14", "host at rest", "MiB", rest, 30),
        within("P14", "upload of 64 MiB, added", "MiB", peak - rest, 24),
    ]


def _mib(host: PipeHost, name: str) -> float:
    status = Path(f"/proc/{host.pid}/status").read_text(encoding="ascii")
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


def _pieces(attachment: str, mib: int) -> Iterator[dict[str, Any]]:
    for index in range(mib * MIB // CHUNK_BYTES):
        data = base64.b64encode(index.to_bytes(8, "big") * (CHUNK_BYTES // 8)).decode()
        yield {"type": "attachment.chunk", "submissionId": new_id(), "attachmentId": attachment, "index": index,
               "data": data}  # fmt: skip


def _upload(host: PipeHost, mib: int) -> None:
    about = {"kind": "page_snapshot", "mime": "multipart/related", "provenance": "page", "trust": "untrusted"}
    attachment = host.ask({"type": "attachment.begin", "size": mib * MIB, **about})["attachmentId"]
    flying = 0
    for piece in _pieces(attachment, mib):
        host.send(piece)
        flying += 1
        if flying == IN_FLIGHT:
            host.until("command.ack")
            flying -= 1
    for _ in range(flying):
        host.until("command.ack")
    host.ask({"type": "attachment.commit", "attachmentId": attachment})
