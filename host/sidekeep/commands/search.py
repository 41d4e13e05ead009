"""`thread.search`: full text over messages, pages and titles; the host fills the index before."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.ops.threads import ThreadSearch
from sidekeep.store import pages, search, threads
from sidekeep.store.tx import Tx


def search_all(tx: Tx, op: ThreadSearch, _ctx: Context) -> dict[str, Any]:
    thread_id, site = given(op.thread_id), given(op.site)
    filters = search.Filters(
        thread=None if thread_id is None else threads.live(tx, thread_id).k,
        within=given(op.within),
        site=None if site is None else pages.site_named(site),
        since=given(op.since),
        until=given(op.until),
    )
    return search.find(tx, op.query, filters, op.limit, given(op.cursor))
