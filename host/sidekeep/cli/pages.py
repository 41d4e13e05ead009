"""`sidekeep pages`: the pages that were kept, to read and to take along."""

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sidekeep.cli.looking import exists, looking
from sidekeep.cli.options import Json, State, places, shown
from sidekeep.cli.outcome import Status, emit, printable, say
from sidekeep.model.errors import Conflict
from sidekeep.model.limits import LIST_DEFAULT, LIST_MAX
from sidekeep.model.places import private_file
from sidekeep.store import pages as store_pages

app = App(name="pages", help="The pages that were kept: list, show, export.", result_action="return_value")

PageId = Annotated[str, Parameter(help="The id of the page, as `sidekeep pages list` prints it.")]


@app.command(name="list")
def list_pages(
    *,
    site: str | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=LIST_MAX))] = LIST_DEFAULT,
    state: State = None,
    json: Json = False,
) -> int:
    """List the kept pages, the newest first.

    Parameters
    ----------
    site
        Of this site and its subdomains only.
    limit
        At most so many.
    """
    where = places(state)
    found: dict[str, object] = {"pages": [], "cursor": None}
    if exists(where):
        with looking(where) as tx:
            found = store_pages.listing(tx, limit=limit, cursor=None, thread=None, site=site, with_total=False)
    if json:
        emit(found)
        return Status.DONE
    if not found["pages"]:
        say(f"No pages are kept in {shown(where.state)}.")
    for page in found["pages"]:  # type: ignore[attr-defined]
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(page["capturedAt"] / 1000))
        title = printable(page["title"] or "Untitled", one_line=True)
        say(f"{page['id']}  {day}  {title}  {printable(page['url'], one_line=True)}")
    if found["cursor"] is not None:
        say(f"More are kept: --limit {min(limit * 4, LIST_MAX)} shows them.")
    return Status.DONE


@app.command
def show(page: PageId, *, state: State = None, json: Json = False) -> int:
    """Print a kept page: what it is, then its text."""
    with looking(places(state)) as tx:
        if json:
            emit({"page": store_pages.get(tx, page)})
        else:
            say(printable(store_pages.markdown(tx, page)))
    return Status.DONE


@app.command
def export(
    page: PageId,
    *,
    format: Literal["md", "mhtml"] = "md",
    out: Path | None = None,
    state: State = None,
    json: Json = False,
) -> int:
    """Write a kept page to a file, or to standard output.

    Parameters
    ----------
    format
        md: its text as Markdown; mhtml: the whole page as a browser opens it.
    out
        The file to make; one that is there already is left alone.
    """
    with looking(places(state)) as tx:
        whole: Iterable[bytes]
        if format == "md":
            whole = [store_pages.markdown(tx, page).encode()]
        else:
            store_pages.get(tx, page)
            whole = store_pages.pieces(tx, page, "page_snapshot")
        size = _write(whole, out, quiet=json)
    if json:
        emit({"pageId": page, "format": format, "bytes": size, "out": None if out is None else str(out)})
    elif out is not None:
        say(f"{shown(out)}: {size} bytes.")
    return Status.DONE


def _write(whole: Iterable[bytes], out: Path | None, *, quiet: bool) -> int:
    size = 0
    if out is None:
        for piece in whole:
            size += len(piece)
            if not quiet:
                sys.stdout.buffer.write(piece)
        return size
    try:
        fd = private_file(str(out), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        raise Conflict(f"{shown(out)} is there already; name another file with --out.") from None
    with os.fdopen(fd, "wb") as file:
        for piece in whole:
            size += file.write(piece)
    return size
