"""Opens an image with the product's own opener and says whether what it holds is what was promised."""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import apsw

from durability.disk import Image
from sidekeep.model.digests import node_digest, sha256_hex
from sidekeep.model.errors import SidekeepError
from sidekeep.model.places import Places
from sidekeep.store.opener import open_store

DATABASE = "sidekeep.db"


class Broken(AssertionError):
    """A promise that an image does not keep."""


@dataclass(frozen=True)
class Found:
    """What an opened image holds: a digest of every row of every table, and the receipts by submissionId."""

    content: str
    receipts: dict[str, str]
    threads: int


def content_digest(db: apsw.Connection) -> str:
    """SHA-256 over every row of every table, the search index's included."""
    names = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")
    ]
    seen = hashlib.sha256()
    for name in names:
        seen.update(name.encode())
        for row in db.execute(f'SELECT * FROM "{name}"'):
            seen.update(repr(row).encode("utf-8", "surrogatepass"))
    return seen.hexdigest()


def audit(db: apsw.Connection) -> list[str]:
    """Every promise about one store alone that does not hold, in words."""
    wrong = [f"integrity: {row[0]}" for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    wrong += [f"foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check")]
    nodes: dict[int, tuple[str, str]] = {}
    expected: dict[int, int] = {}
    for k, node_id, parent, kind, ts, digest, payload in db.execute(
        "SELECT k, id, parent, type, ts, digest, payload FROM nodes ORDER BY k"
    ):
        thread, seq = k >> 32, k & 0xFFFF_FFFF
        if seq != expected.get(thread, 1):
            wrong.append(f"a hole in seq before node {node_id}")
        expected[thread] = seq + 1
        above = None if parent is None else nodes.get(parent)
        if parent is not None and above is None:
            wrong.append(f"node {node_id} has no parent")
        if node_digest(node_id, above and above[0], above and above[1], ts, kind, payload.encode()) != digest:
            wrong.append(f"node {node_id} is not what its digest says")
        nodes[k] = (node_id, digest)
    for k, thread_id, leaf, next_seq in db.execute("SELECT k, id, leaf, next_seq FROM threads"):
        if next_seq != expected.pop(k, 1):
            wrong.append(f"thread {thread_id} counts other nodes than it has")
        if leaf is not None and (leaf not in nodes or leaf >> 32 != k):
            wrong.append(f"thread {thread_id} points at a node that is not its own")
    wrong += [f"nodes of a thread that is not there: {thread}" for thread in expected]
    for k, sha256, size in db.execute("SELECT k, sha256, size FROM blobs WHERE sha256 IS NOT NULL AND dropped = 0"):
        chunks = db.execute("SELECT bytes FROM blob_chunks WHERE k >= ? << 20 AND k < (? + 1) << 20 ORDER BY k", (k, k))
        content = b"".join(row[0] for row in chunks)
        if len(content) != size or sha256_hex(content) != sha256:
            wrong.append(f"blob {k} is not what its digest says")
    return wrong


class Judge:
    """Opens images in one scratch folder; what it found of equal database files is remembered."""

    def __init__(self, scratch: Path) -> None:
        self.places = Places(str(scratch))
        shutil.rmtree(scratch, ignore_errors=True)
        self.places.make()
        self.images = 0
        self._known: dict[bytes, Found] = {}

    def put(self, image: Image) -> None:
        """Lay the image's files down, and nothing else of a database."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            path = self.places.database + suffix
            content = image.get(DATABASE + suffix)
            if content is None:
                if os.path.exists(path):
                    os.unlink(path)
            else:
                with open(path, "wb") as file:
                    file.write(content)

    def open(self, image: Image) -> Found:
        """What the product finds. Raises Broken when it does not open, or when what it holds is wrong in itself."""
        self.put(image)
        self.images += 1
        try:
            open_store(self.places).close()
        except SidekeepError as error:
            raise Broken(f"the image does not open: {error.code}: {error.message}") from error
        # The opener has brought everything from the log into the database, so that its bytes say it all.
        with open(self.places.database, "rb") as file:
            key = hashlib.sha256(file.read()).digest()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._look()
        return found

    def _look(self) -> Found:
        store = open_store(self.places)
        try:
            wrong = audit(store.db)
            if wrong:
                raise Broken("; ".join(wrong[:5]))
            receipts = dict(store.db.execute("SELECT submission_id, response FROM command_receipts"))
            (threads,) = store.db.execute("SELECT count(*) FROM threads").fetchone() or (0,)
            return Found(content_digest(store.db), receipts, threads)
        except apsw.Error as error:
            raise Broken(f"the image cannot be read: {error}") from error
        finally:
            store.close()
