"""Checks the bytes of attachments: each is whole, named by somebody, and, when deep, has its digest."""

from hashlib import sha256

import apsw

from sidekeep.model.limits import CHUNK_BYTES
from sidekeep.store.sql import statements
from sidekeep.store.verify_findings import Look, Report

sql = statements(__file__)

GONE = "say of its attachments that their bytes are gone; their names, sizes and digests stay"


def check(db: Look, report: Report) -> None:
    for what, part in (
        ("The table of blobs", _blobs),
        ("The table of attachments", _attachments),
        ("The table of bytes", _loose_chunks),
    ):
        try:
            part(db, report)
        except apsw.CorruptError as error:
            report.damaged(what, error)


def _blobs(db: Look, report: Report) -> None:
    total = db.number(sql.sum)
    done = 0
    # Only numbers: a store holds some thousands of them.
    for key, digest, size in list(db.rows(sql.blobs)):
        report.progress("attachments", done, total)
        report.checked["blobs"] += 1
        try:
            fault = _fault(db, report, key, digest, size, done, total)
        except apsw.CorruptError as error:
            report.damaged(f"Blob {digest}", error)
            fault = "cannot be read"
        if fault:
            report.fault("blob_damaged", f"The bytes with the digest {digest} {fault}.", GONE, id=digest, key=key)
        done += size


def _fault(db: Look, report: Report, key: int, digest: str, size: int, done: int, total: int) -> str:
    """What is wrong with a blob, empty for nothing; one chunk is in memory at a time."""
    found = sha256()
    expected = at = 0
    for index, content in db.rows(sql.chunks if report.deep else sql.chunk_sizes, (key,)):
        length = len(content) if report.deep else content
        if index != expected or length != min(CHUNK_BYTES, size - at):
            return "are not whole"
        expected, at = expected + 1, at + length
        if report.deep:
            found.update(content)
            report.progress("attachments", done + at, total)
            report.checked["bytes"] += length
    if at != size:
        return "are not whole"
    return "have another digest" if report.deep and found.hexdigest() != digest else ""


def _attachments(db: Look, report: Report) -> None:
    for key, attachment_id in db.rows(sql.disagreeing):
        report.fault(
            "attachment_damaged",
            f"Attachment {attachment_id} names bytes that are not here, or not its own.",
            "say of it that its bytes are gone; its name, size and digest stay",
            id=attachment_id,
            key=key,
        )
    for (key,) in db.rows(sql.unnamed):
        report.fault("blob_orphan", f"Blob number {key} belongs to no attachment.", "free its bytes", key=key)
    for page, index, page_id in db.rows(sql.lost_parts):
        report.fault(
            "page_part",
            f"Page {page_id} has lost its part {index}.",
            "forget the part",
            id=page_id,
            key=page,
            more=index,
        )


def _loose_chunks(db: Look, report: Report) -> None:
    at = 0
    while (row := db.one(sql.next_chunk, (at,))) is not None:
        owner = row[0] >> 20
        if db.one(sql.is_blob, (owner,)) is None:
            report.fault(
                "chunk_orphan", f"There are bytes of a blob number {owner} that is gone.", "free them", key=owner
            )
        at = owner + 1 << 20
