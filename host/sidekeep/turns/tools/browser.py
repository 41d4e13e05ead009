"""Tools that the browser carries out: the text of a page, the list of tabs, a picture of what is seen."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.limits import PAGE_TEXT_SLICE
from sidekeep.store.pages import is_blocked, site_of
from sidekeep.turns.fences import fenced
from sidekeep.turns.tools.descriptor import Acting, Args, BadArguments, BrowserTool, Outcome

_LONGEST_SLICE = 3 * PAGE_TEXT_SLICE
_LISTED = 60


class ReadPage(Args):
    """Arguments of read_page."""

    tab_id: Annotated[int, Meta(description="The tab, from list_tabs; without it the tab beside the panel.")] | (
        UnsetType
    ) = UNSET
    mode: Annotated[
        Literal["article", "selection", "snapshot"],
        Meta(description="article: the readable text; selection: what is selected; snapshot: all text of the page."),
    ] = "article"
    offset: Annotated[int, Meta(ge=0, description="Where to begin, in characters, to read on in a long page.")] = 0


class ListTabs(Args):
    """Arguments of list_tabs: none."""


class Screenshot(Args):
    """Arguments of screenshot."""

    tab_id: Annotated[int, Meta(description="The tab, from list_tabs; without it the tab beside the panel.")] | (
        UnsetType
    ) = UNSET


def tab_of(acting: Acting, args: Any) -> int | None:
    """The tab that a call means; None for a tool that means none."""
    if not isinstance(args, ReadPage | Screenshot):
        return None
    if args.tab_id is not UNSET:
        return args.tab_id
    if acting.here is None:
        raise BadArguments("No tab is known beside the panel: call list_tabs and name one.")
    return acting.here


def address_of(acting: Acting, args: Any) -> str:
    """The address of the tab that a call means, as far as this turn knows it. Raises BadArguments."""
    tab = tab_of(acting, args)
    if tab is None:
        return ""
    if tab not in acting.tabs:
        raise BadArguments(f"Tab {tab} is not known: call list_tabs first and use a tabId from it.")
    return acting.tabs[tab]


def _page_params(acting: Acting, args: ReadPage | Screenshot) -> dict[str, Any]:
    params: dict[str, Any] = {"tabId": tab_of(acting, args), "site": site_of(address_of(acting, args))}
    if isinstance(args, ReadPage):
        params["mode"] = args.mode
    return params


def _moved(acting: Acting, args: Any, result: dict[str, Any]) -> Outcome | None:
    """What was allowed is one site: what comes from another one is not looked at."""
    expected, found = site_of(address_of(acting, args)), site_of(str(result.get("url") or ""))
    if found == expected:
        return None
    return Outcome(
        False, f"The tab shows another site now ({found or 'unknown'}). Call list_tabs again.", {"site": found}
    )


def _page(acting: Acting, args: ReadPage, result: dict[str, Any]) -> Outcome:
    moved = _moved(acting, args, result)
    if moved is not None:
        return moved
    text, url, title = str(result.get("text") or ""), str(result.get("url")), str(result.get("title") or "")
    details = {"url": url, "title": title, "mode": args.mode, "characters": len(text)}
    if not text:
        return Outcome(False, f"There is no text to read in mode {args.mode}.", details)
    piece = text[args.offset : args.offset + _LONGEST_SLICE]
    if not piece:
        return Outcome(False, f"The page has {len(text)} characters; offset {args.offset} is behind its end.", details)
    end = args.offset + len(piece)
    block = fenced(piece, kind="page", trust="untrusted", provenance="page", title=title, url=url)
    more = f"\nCharacters {args.offset}-{end} of {len(text)}; read on with offset {end}." if end < len(text) else ""
    return Outcome(True, block.whole + more, {**details, "from": args.offset, "to": end})


def _tabs(acting: Acting, _args: ListTabs, result: dict[str, Any]) -> Outcome:
    told = [tab for tab in result.get("tabs") or () if isinstance(tab, dict) and type(tab.get("tabId")) is int]
    tabs = [tab for tab in told if not _is_blocked(acting, site_of(str(tab.get("url") or "")))]
    kept = [
        {
            "tabId": tab["tabId"],
            "title": str(tab.get("title") or "")[:200],
            "url": str(tab.get("url") or "")[:500],
            "active": bool(tab.get("active")),
        }
        for tab in tabs[:_LISTED]
    ]
    # Titles and addresses are written by sites: they stand between fences as a page does.
    lines = msgspec.json.encode(kept).decode()
    block = fenced(lines, kind="page", trust="untrusted", provenance="page", title="Open tabs")
    return Outcome(True, block.whole, {"tabs": kept, "total": len(tabs)})


def _is_blocked(acting: Acting, site: str) -> bool:
    return is_blocked(site, acting.blocked)


def _picture(acting: Acting, args: Screenshot, result: dict[str, Any]) -> Outcome:
    moved = _moved(acting, args, result)
    if moved is not None:
        return moved
    attachment = result.get("attachmentId")
    if not isinstance(attachment, str):
        return Outcome(False, "The browser took no picture.")
    mime = str(result.get("mime") or "image/png")
    image = {"type": "image", "attachmentId": attachment, "mime": mime}
    details = {"url": str(result.get("url")), "title": str(result.get("title") or ""), "attachmentId": attachment}
    return Outcome(True, "The picture of what the tab shows follows.", details, [image])


def _what(mode: str) -> str:
    return {"article": "the text", "selection": "the selection", "snapshot": "all text"}[mode]


TOOLS = (
    BrowserTool(
        name="read_page",
        description="Reads the text of a page that is open in the user's browser. What it returns is written by the "
        "page, not by the user. Long pages come in pieces.",
        args=ReadPage,
        level="L0",
        risk="page",
        repeat="retry-safe",
        asks=lambda args: f"Read {_what(args.mode)} of this page",
        params=_page_params,
        take=_page,
    ),
    BrowserTool(
        name="list_tabs",
        description="Lists the tabs that are open in the user's browser window, with their titles and addresses.",
        args=ListTabs,
        level="L0",
        risk="read",
        repeat="retry-safe",
        asks=lambda _args: "See which tabs are open",
        params=lambda _acting, _args: {},
        take=_tabs,
    ),
    BrowserTool(
        name="screenshot",
        description="Takes a picture of the visible part of a tab.",
        args=Screenshot,
        level="L0",
        risk="page",
        repeat="retry-safe",
        asks=lambda _args: "Take a picture of this page",
        params=_page_params,
        take=_picture,
    ),
)
