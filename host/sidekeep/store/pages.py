"""Kept pages: a record of URL, title, time and text whose parts are attachments."""

import base64
import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from sidekeep.model.digests import digest_of, sha256_hex
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.model.ids import is_uuid
from sidekeep.model.limits import SAFE_INTEGER
from sidekeep.store import attachments, blobs
from sidekeep.store.sql import statements
from sidekeep.store.tx import Row, Tx, dumps

sql = statements(__file__)

_FIRST = (2**62, "~")


def site_of(url: str) -> str:
    """The host of an address in lower case, without port and `www.`; empty where there is none."""
    scheme, mark, rest = url.partition("://")
    if not mark or not scheme:
        return ""
    for end in "/?#\\":
        rest = rest.partition(end)[0]
    name = rest.rpartition("@")[2].lower()
    name = name.partition("]")[0] + "]" if name.startswith("[") else name.partition(":")[0]
    return name.removeprefix("www.").rstrip(".")


def site_named(text: str) -> str:
    """A site as a person names it, by its name or by an address on it."""
    return site_of(text if "://" in text else f"x://{text.removeprefix('*.')}")


def is_blocked(site: str, blocked: Iterable[str]) -> bool:
    """Whether a site is one of those that `site_named` gave, or below one; `*` is every site."""
    return any(name == "*" or site == name or site.endswith(f".{name}") for name in blocked if name)


def capture(tx: Tx, thread: int | None, members: dict[str, Any]) -> tuple[str, str]:
    """Keep a page; returns its id and digest. Raises NotFound for a part that is not stored, InvalidCommand."""
    parts = members["parts"]
    if len(set(parts)) != len(parts):
        raise InvalidCommand("parts: names an attachment twice.")
    digests = [attachments.stored(tx, part).sha256 for part in parts]
    text, cut = members.get("text"), members.get("cut")
    subject: dict[str, Any] = {
        "capturedAt": members["capturedAt"],
        "parts": digests,
        "title": members["title"],
        "url": members["url"],
    }
    if cut is not None:
        subject["cut"] = cut
    if text is not None:
        subject["text"] = sha256_hex(text.encode())
    digest = digest_of(subject)
    page_id = tx.new_id()
    tx.run(
        sql.insert,
        (
            page_id, thread, members["url"], site_of(members["url"]), members["title"], members["capturedAt"], tx.now,
            digest, None if cut is None else dumps(cut), members.get("selection"), text,
        ),
    )  # fmt: skip
    key = tx.insert_key()
    for index, part in enumerate(parts):
        tx.run(sql.part, (key, index, part))
        if thread is not None:
            tx.run(sql.adopt, (part, thread))
    tx.change("store.changed", id=page_id, revision=1, detail={"kind": "pages", "id": page_id})
    return page_id, digest


def _shown(row: Row) -> dict[str, Any]:
    _k, page_id, thread, url, title, captured_at, digest, cut, selection, text, parts = row
    shown: dict[str, Any] = {
        "id": page_id,
        "url": url,
        "title": title,
        "capturedAt": captured_at,
        "digest": digest,
        "parts": json.loads(parts),
    }
    optional = {
        "threadId": thread,
        "cut": msgspec.Raw(cut.encode()) if cut else None,
        "selection": selection,
        "text": text,
    }
    shown.update({name: value for name, value in optional.items() if value is not None})
    return shown


def get(tx: Tx, page_id: str) -> dict[str, Any]:
    """A page with its text. Raises NotFound."""
    return _shown(_find(tx, page_id))


def pieces(tx: Tx, page_id: str, kind: str) -> Iterator[bytes]:
    """The bytes of the page's first part of this kind. Raises NotFound, before the first piece, where there is none."""
    row = tx.one(sql.part_of_kind, (page_id, kind))
    if row is None:
        raise NotFound(f"Page {page_id} has no part of the kind {kind}.")
    return blobs.pieces(tx, row[0], 0, blobs.chunks_of(row[1]))


def markdown(tx: Tx, page_id: str) -> str:
    """A page as a Markdown document: its title, where and when it was found, what was cut, its text.

    Raises NotFound for a page that is not kept, or that holds no text.
    """
    page = get(tx, page_id)
    text = page.get("text")
    if text is None:
        text = b"".join(pieces(tx, page_id, "page_text")).decode("utf-8", "replace")
    when = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(page["capturedAt"] / 1000))
    title = " ".join(page["title"].split()) or page["url"]
    head = [f"# {title}", "", f"<{page['url']}>, {when}", ""]
    if "cut" in page:
        cut = msgspec.json.decode(page["cut"])
        head += [f"*Not all of the page was kept: {cut['reason']}.*", ""]
    return "\n".join([*head, text, ""])


def _find(tx: Tx, page_id: str) -> Row:
    row = tx.one(sql.find, (page_id,))
    if row is None:
        raise NotFound(f"No kept page {page_id}.")
    return row


def listing(
    tx: Tx, *, limit: int, cursor: str | None, thread: int | None, site: str | None, with_total: bool
) -> dict[str, Any]:
    """A page of the list without texts, the newest capture first; `site` takes its subdomains with it."""
    wanted = None if site is None else site_named(site)
    rows = tx.all(sql.listing, (thread, wanted, *_cursor_of(cursor), limit + 1))
    shown = rows[:limit]
    page: dict[str, Any] = {
        "pages": [_shown(row) for row in shown],
        "cursor": _cursor_text(shown[-1]) if len(rows) > limit else None,
    }
    if with_total:
        page["total"] = tx.one(sql.total, (thread, wanted))[0]  # type: ignore[index]
    return page


def _cursor_text(row: Row) -> str:
    return base64.urlsafe_b64encode(f"{row[5]}:{row[1]}".encode()).decode().rstrip("=")


def _cursor_of(text: str | None) -> tuple[int, str]:
    if text is None:
        return _FIRST
    try:
        when, _, page_id = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(":")
        captured_at = int(when)
    except ValueError:
        captured_at, page_id = -1, ""
    if not (0 <= captured_at <= SAFE_INTEGER and is_uuid(page_id)):
        raise InvalidCommand("cursor: not one that this list gave.")
    return captured_at, page_id


def delete(tx: Tx, page_id: str) -> None:
    """Delete a page with those of its parts that no message and no other page names. Raises NotFound."""
    from sidekeep.store import search_index

    row = _find(tx, page_id)
    search_index.forget(tx, "page", row[0])
    tx.run(sql.remove, (row[0],))
    for part in json.loads(row[10]):
        if tx.one(sql.named_elsewhere, (part,)) is not None:
            continue
        try:
            found = attachments.find(tx, part)
        except NotFound:
            continue
        if not found.node_ids and not found.pinned:
            attachments.remove(tx, found)
    tx.change("store.changed", id=page_id, detail={"kind": "pages", "id": page_id})
