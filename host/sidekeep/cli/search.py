"""`sidekeep search`: full text over messages, kept pages and titles, as the panel finds it."""

import sys
import time
from contextlib import closing
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from sidekeep.cli.looking import exists
from sidekeep.cli.options import Flag, Json, State, places
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.model.clock import now_ms
from sidekeep.model.errors import InvalidCommand, NotFound
from sidekeep.model.ids import new_id
from sidekeep.model.limits import SEARCH_DEFAULT, SEARCH_MAX
from sidekeep.store import pages, search_index, threads
from sidekeep.store import search as store_search
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.reading import reading
from sidekeep.store.snippets import MARK, UNMARK
from sidekeep.store.tx import Tx

_KINDS = ("messages", "pages", "titles")
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def search(
    *query: str,
    within: Annotated[str | None, Parameter(name="--in")] = None,
    thread: str | None = None,
    site: str | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=SEARCH_MAX))] = SEARCH_DEFAULT,
    rebuild: Annotated[bool, Flag] = False,
    state: State = None,
    json: Json = False,
) -> int:
    """Find words in conversations, kept pages and titles.

    Parameters
    ----------
    query
        What to look for; quotes make a phrase.
    within
        Look in these only, of messages,pages,titles.
    thread
        In this conversation only.
    site
        In pages of this site only.
    limit
        At most so many.
    rebuild
        Build the index anew first.
    """
    where = places(state)
    kinds = None if within is None else [kind.strip() for kind in within.split(",")]
    if kinds is not None and not set(kinds) <= set(_KINDS):
        raise InvalidCommand(f"--in takes some of {','.join(_KINDS)}.")
    if not query and not rebuild:
        raise InvalidCommand("What is looked for? For example: sidekeep search apple pie.")
    if not exists(where):
        raise NotFound(f"There is no store in {where.state} yet: it is made when the side panel is first opened.")
    with closing(open_store(where)) as store:
        doorway, reader = Doorway(store), store.reader()
        if rebuild:
            doorway.run(search_index.begin_anew)
        indexed = search_index.catch_up(doorway, lambda: Tx(reader, now_ms(), new_id))
        with reading(Tx(reader, now_ms(), new_id)) as tx:
            filters = store_search.Filters(
                thread=None if thread is None else threads.live(tx, thread).k,
                within=kinds,
                site=None if site is None else pages.site_named(site),
            )
            found = store_search.find(tx, " ".join(query), filters, limit)
    if json:
        emit({**found, "indexed": indexed} if rebuild else found)
        return Status.DONE
    if rebuild:
        say(f"The index was built anew: {indexed} messages, pages and titles.")
    if query:
        _print(found)
    return Status.DONE


def _print(found: dict[str, Any]) -> None:
    if not found["hits"]:
        say("Nothing was found.")
    begin, end = (_BOLD, _PLAIN) if sys.stdout.isatty() else ("", "")
    for hit in found["hits"]:
        day = time.strftime("%Y-%m-%d", time.localtime(hit["ts"] / 1000))
        what = f"page {hit['pageId']}" if "pageId" in hit else hit["threadId"]
        say(f"{what}  {day}  {printable(hit['title'] or 'Untitled', one_line=True)}")
        snippet = printable(hit["snippet"], one_line=True)
        say(f"    {snippet.replace(MARK, begin).replace(UNMARK, end)}")
    if found["cursor"] is not None:
        say("There is more: a larger --limit shows it.")
