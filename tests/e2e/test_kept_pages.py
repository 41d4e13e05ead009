"""Pictures, full copies, PDFs, other tabs, and what is asked for outside of the panel: taken by the real browser."""

import base64
import email
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, wait_until
from e2e.test_captured_text import PAGES
from lib import panel as panels
from lib.page_server import serve
from support.hostclient import HostClient
from support.pdfs import pdf

BANDS = 5
BAND_PIXELS = 500


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The pages for tests, with a PDF and an image among them."""
    folder = tmp_path / "served"
    folder.mkdir()
    for page in PAGES.iterdir():
        (folder / page.name).write_bytes(page.read_bytes())
    (folder / "tides.pdf").write_bytes(pdf("The harbour of Lerwick opens at seven.", "Second page."))
    (folder / "scanned.pdf").write_bytes(pdf("", ""))
    (folder / "dot.png").write_bytes(png(3, 2))
    with serve(folder) as found:
        yield found


def png(width: int, height: int) -> bytes:
    """A red image of this size."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + b"\xff\0\0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def shown_page(desk: Desk) -> dict[str, Any]:
    """The one page that is kept."""
    (page,) = json.loads(desk.sidekeep("pages", "list", "--json").stdout)["pages"]
    found: dict[str, Any] = json.loads(desk.sidekeep("pages", "show", page["id"], "--json").stdout)
    return found.get("page", found)


def wait_until_kept(panel: Page, title: str) -> str:
    """What the panel says once the page is kept."""
    toast = panels.part(panel, "toast").filter(has_text=f"“{title}” is kept").last
    expect(toast).to_be_visible(timeout=60_000)
    return toast.inner_text()


COLOURS = """async ([data, mime]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: mime }));
  const paper = new OffscreenCanvas(image.width, image.height).getContext('2d');
  paper.drawImage(image, 0, 0);
  const at = (y) => [...paper.getImageData(Math.floor(image.width / 2), y, 1, 1).data.slice(0, 3)];
  return { height: image.height, head: at(20), bands: [0, 1, 2, 3, 4].map((band) => at(band * 500 + 250)) };
}"""


def stored(desk: Desk, attachment_id: str) -> tuple[bytes, str]:
    """The bytes of an attachment, and their type."""
    with HostClient(desk.state) as host:
        host.initialize()
        host.ready()
        data = b""
        while True:
            piece = host.query("attachment.read", attachmentId=attachment_id, offset=len(data), length=512 * 1024)
            data += base64.b64decode(piece["data"])
            if piece["eof"]:
                return data, piece["mime"]


def is_near(colour: list[int], meant: list[int]) -> bool:
    """As near as JPEG keeps it."""
    return max(abs(one - other) for one, other in zip(colour, meant, strict=True)) <= 6


def test_a_page_is_kept_with_a_full_copy_and_a_picture_of_all_of_it(desk: Desk, address: str) -> None:
    """C4, E64: every strip is where it belongs, what stays in its place comes once, the page is left as it was."""
    desk.grant_everything()
    panel = desk.panel(address + "tall.html")
    beside = desk.browsers[0].page
    beside.evaluate("() => scrollTo(0, 700)")
    panels.part(panel, "open-menu").click()
    panels.part(panel, "keep-page").click()
    panels.part(panel, "keep-picture").check()
    expect(panels.part(panel, "keep-copy")).to_be_checked()
    panels.part(panel, "confirm").click()
    said = wait_until_kept(panel, "Tall")
    assert "no text that can be read" in said, "bands of colour hold no text"
    assert beside.evaluate("() => [scrollY, document.querySelectorAll('[data-sidekeep-pinned]').length]") == [700, 0]

    page = shown_page(desk)
    assert (page["url"], page["title"]) == (address + "tall.html", "Tall")
    assert page["cut"]["reason"] == "there is no text that can be read"
    copy, picture = page["parts"]
    data, mime = stored(desk, picture)
    found = panel.evaluate(COLOURS, [base64.b64encode(data).decode(), mime])
    assert (mime, found["height"]) == ("image/jpeg", BANDS * BAND_PIXELS)
    wanted = [[at * 50, 200, 200 - at * 40] for at in range(BANDS)]
    assert all(is_near(colour, meant) for colour, meant in zip(found["bands"], wanted, strict=True)), found
    assert is_near(found["head"], [255, 0, 255]), found

    saved = desk.folder / "tall.mhtml"
    desk.sidekeep("pages", "export", page["id"], "--format", "mhtml", "--out", str(saved))
    message = email.message_from_bytes(saved.read_bytes())
    assert message["Snapshot-Content-Location"] == address + "tall.html"
    assert copy != picture


def test_a_pdf_is_read_by_the_companion(desk: Desk, address: str) -> None:
    """E61: its bytes are fetched, a process with limits reads them; a scanned one says so; it can be kept."""
    desk.grant_everything()
    panel = desk.panel(address + "tides.pdf")
    panels.part(panel, "attach-page").click()
    chip = panels.part(panel, "context-chip")
    expect(chip).to_contain_text("PDF, 2 pages", timeout=60_000)

    panels.part(panel, "attach-menu").click()
    panels.part(panel, "attach-keep").click()
    panels.part(panel, "confirm").click()
    toast = panels.part(panel, "toast").filter(has_text="is kept").last
    expect(toast).to_be_visible(timeout=60_000)
    page = shown_page(desk)
    assert page["url"] == address + "tides.pdf"
    assert page["text"].split() == ["The", "harbour", "of", "Lerwick", "opens", "at", "seven.", "Second", "page."]
    assert "cut" not in page

    desk.browsers[0].page.goto(address + "scanned.pdf")
    panels.part(panel, "attach-page").click()
    expect(panels.part(panel, "toast").filter(has_text="only pictures of pages").last).to_be_visible(timeout=60_000)
    assert chip.count() == 1


def test_other_tabs_and_what_the_context_menu_asks_for(desk: Desk, address: str) -> None:
    """Several tabs through `@`, by keys alone; selection, link and image as the menu leaves them for the panel."""
    desk.grant_everything()
    panel = desk.panel(address + "article.html")
    browser = desk.browsers[0]
    other = browser.context.new_page()
    other.goto(address + "table.html")
    browser.page.bring_to_front()
    chips = panels.part(panel, "context-chip")
    composer = panels.part(panel, "composer")
    composer.focus()
    panel.keyboard.type("Compare @tabl")
    expect(panels.part(panel, "tab-option").first).to_contain_text("Tables")
    panel.keyboard.press("Enter")
    expect(chips.filter(has_text="Tables")).to_have_count(1, timeout=15_000)
    expect(composer).to_have_value("Compare ")

    browser.page.evaluate(
        "() => getSelection().selectAllChildren(document.querySelector('ul ul').closest('article').querySelector('ul'))"
    )
    worker = browser.context.service_workers[0]
    for wish, chip in (
        ({"what": "selection", "text": "plain"}, "Selection: How Limpets Find Home"),
        ({"what": "link", "url": address + "code.html"}, "Code"),
        ({"what": "image", "url": address + "dot.png"}, "picture, 3 × 2"),
    ):
        worker.evaluate(
            """async ([wish, url]) => {
              const tab = (await chrome.tabs.query({})).find((each) => each.url === url);
              await chrome.storage.session.set({ wanted: { ...wish, tabId: tab.id, at: Date.now() } });
            }""",
            [wish, address + "article.html"],
        )
        expect(chips.filter(has_text=chip)).to_have_count(1, timeout=30_000)

    panels.part(panel, "attach-menu").click()
    panels.part(panel, "attach-visible").click()
    expect(chips.filter(has_text="Picture of How Limpets Find Home")).to_have_count(1, timeout=30_000)

    panels.part(panel, "send").click()
    wait_until(panel, lambda: json.loads(desk.sidekeep("threads", "--json").stdout)["threads"] != [], "thread", 30)
    (thread,) = json.loads(desk.sidekeep("threads", "--json").stdout)["threads"]
    nodes = json.loads(desk.sidekeep("show", thread["id"], "--json").stdout)["nodes"]
    kept = nodes[0]["payload"]["attachedContext"]
    assert [block["kind"] for block in kept] == ["page", "selection", "page", "page", "page"]
    assert kept[1]["text"].startswith("- Out: thin and long\n  - about 60\u00a0cm")
    assert kept[2]["text"].startswith("Call `read_page(tab_id)`")
    assert all(("attachmentId" in block) != ("text" in block) for block in kept)
