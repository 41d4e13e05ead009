"""A native host without a product: reads a message, writes a node in a durable transaction, acknowledges.

The yardstick of P1: no receipts, no checks, no tree, one connection. `argv[1]` is the database.
"""

import json
import struct
import sys

import apsw

SCHEMA = """
CREATE TABLE IF NOT EXISTS threads (k INTEGER PRIMARY KEY, leaf INTEGER, updated INTEGER, count INTEGER);
CREATE TABLE IF NOT EXISTS nodes (k INTEGER PRIMARY KEY, id TEXT UNIQUE, parent INTEGER, payload TEXT);
INSERT OR IGNORE INTO threads VALUES (1, NULL, 0, 0);
"""


def main(database: str) -> None:
    db = apsw.Connection(database)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "FULL")
    db.wal_autocheckpoint(0)
    db.execute(SCHEMA)
    port_in, port_out = sys.stdin.buffer, sys.stdout.buffer
    while header := port_in.read(4):
        (size,) = struct.unpack("=I", header)
        message = json.loads(port_in.read(size))
        db.execute("BEGIN IMMEDIATE")
        leaf, count = db.execute("SELECT leaf, count FROM threads WHERE k = 1").fetchone()
        payload = json.dumps(message.get("payload"))
        db.execute("INSERT INTO nodes (id, parent, payload) VALUES (?, ?, ?)", (message["submissionId"], leaf, payload))
        key = db.last_insert_rowid()
        db.execute("UPDATE threads SET leaf = ?, updated = ?, count = ? WHERE k = 1", (key, count, count + 1))
        db.execute("COMMIT")
        body = json.dumps({"type": "command.ack", "submissionId": message["submissionId"], "seq": key}).encode()
        port_out.write(struct.pack("=I", len(body)) + body)
        port_out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
