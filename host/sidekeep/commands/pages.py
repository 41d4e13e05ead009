"""`page.capture`, `page.list`, `page.get`, `page.delete`: pages that are kept as records."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import NeedsPermission
from sidekeep.model.ops.files import PageCapture, PageDelete, PageGet, PageList
from sidekeep.store import pages, settings, threads
from sidekeep.store.tx import Tx


def capture(tx: Tx, op: PageCapture, ctx: Context) -> dict[str, Any]:
    thread_id = given(op.thread_id)
    thread = None if thread_id is None else threads.live(tx, thread_id).k
    _refuse_blocked(tx, pages.site_of(op.url))
    page_id, digest = pages.capture(tx, thread, ctx.plain)
    return {"pageId": page_id, "digest": digest}


def _refuse_blocked(tx: Tx, site: str) -> None:
    blocked = [pages.site_named(text) for text in settings.get(tx, "capture.blocked_sites")]
    if "*" in blocked:
        raise NeedsPermission(
            "Every site is on your list of sites that are never captured: so it is also when the list was damaged on "
            "the disk. Set it anew in the settings."
        )
    if pages.is_blocked(site, blocked):
        raise NeedsPermission(f"{site} is on your list of sites that are never captured.")


def listing(tx: Tx, op: PageList, _ctx: Context) -> dict[str, Any]:
    thread_id = given(op.thread_id)
    return pages.listing(
        tx,
        limit=op.limit,
        cursor=given(op.cursor),
        thread=None if thread_id is None else threads.live(tx, thread_id).k,
        site=given(op.site),
        with_total=op.with_total,
    )


def get(tx: Tx, op: PageGet, _ctx: Context) -> dict[str, Any]:
    return {"page": pages.get(tx, op.page_id)}


def delete(tx: Tx, op: PageDelete, _ctx: Context) -> dict[str, Any]:
    pages.delete(tx, op.page_id)
    return {}
