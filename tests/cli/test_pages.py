"""`sidekeep pages`: kept pages listed, read, and taken along as Markdown or as the whole page."""

import stat
from collections.abc import Callable
from pathlib import Path

from support.stores import Store
from support.uploading import made, upload


def test_lists_as_the_panel_does(store: Store, sidekeep: Callable, tmp_path: Path) -> None:
    """The newest capture first, by site; without a store the list is empty and none is made."""
    host = store.open()
    for at, url in enumerate(["https://a.example/", "https://b.example/1", "https://b.example/2"]):
        host.ack("page.capture", url=url, title=f"\x1b[31mNo. {at}", capturedAt=at, parts=[], text="t")
    found = sidekeep("pages", "list", "--json").document
    assert found == host.query("page.list")
    assert [page["url"] for page in sidekeep("pages", "list", "--site", "b.example", "--json").document["pages"]] == [
        "https://b.example/2",
        "https://b.example/1",
    ]
    assert "More are kept" in sidekeep("pages", "list", "--limit", "1").out
    assert "\x1b" not in sidekeep("pages", "list").out
    nowhere = tmp_path / "nowhere"
    assert sidekeep("pages", "list", "--json", state=nowhere).document == {"pages": [], "cursor": None}
    assert not nowhere.exists()


def test_shows_and_exports(store: Store, sidekeep: Callable, tmp_path: Path) -> None:
    """D9: text as Markdown with what was cut, from the record or from its part; the snapshot byte by byte."""
    host = store.open()
    snapshot = b"MIME-Version: 1.0\r\n" + made(700_000)
    words = "**bold** words \u00e9 \U0001f600"
    parts = [
        upload(host, words.encode(), kind="page_text", mime="text/markdown", provenance="page", trust="untrusted"),
        upload(host, snapshot, kind="page_snapshot", mime="multipart/related", provenance="page", trust="untrusted"),
    ]
    about = {"url": "https://example.org/a", "title": "A title", "capturedAt": 1_700_000_000_000}
    cut = {"reason": "it was too long", "keptBytes": 1}
    page = host.ack("page.capture", parts=parts, cut=cut, **about)["pageId"]
    markdown = (
        "# A title\n\n<https://example.org/a>, 2023-11-14 22:13:20Z\n\n"
        f"*Not all of the page was kept: it was too long.*\n\n{words}\n"
    )
    assert sidekeep("pages", "show", page).out == markdown + "\n"
    assert sidekeep("pages", "show", page, "--json").document == host.query("page.get", pageId=page)
    assert sidekeep("pages", "export", page).out == markdown
    out = tmp_path / "page.mhtml"
    done = sidekeep("pages", "export", page, "--format", "mhtml", "--out", str(out), "--json")
    assert done.document == {"pageId": page, "format": "mhtml", "bytes": len(snapshot), "out": str(out)}
    assert out.read_bytes() == snapshot
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    again = sidekeep("pages", "export", page, "--out", str(out), "--json")
    assert (again.status, again.document["error"]["code"]) == (3, "conflict")
    assert out.read_bytes() == snapshot


def test_what_is_not_there(store: Store, sidekeep: Callable, tmp_path: Path) -> None:
    """An unknown page, or a part that was not kept, is said in one sentence and makes no file."""
    host = store.open()
    page = host.ack("page.capture", url="https://e.example/", title="t", capturedAt=1, parts=[], text="only text")[
        "pageId"
    ]
    out = tmp_path / "none.mhtml"
    refused = sidekeep("pages", "export", page, "--format", "mhtml", "--out", str(out))
    assert refused.status == 1
    assert refused.err.count("\n") == 1
    assert not out.exists()
    assert sidekeep("pages", "show", "nothing", "--json").document["error"]["code"] == "not_found"
