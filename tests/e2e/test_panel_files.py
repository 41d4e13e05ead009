"""Files of one's own, kept pages and the search, in the real panel: what goes in comes out whole and harmless."""

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, wait_until
from e2e.seeded import conversation, host, quick_answers, said
from e2e.test_panel_worker import stop_worker
from lib import panel as panels
from support.hostclient import HostClient
from support.uploading import upload

MIB = 1 << 20
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGNk+M+ABBiROQAZFgMBTSDcAAAAAABJRU5ErkJggg=="
)


#: What the browser does when somebody lets a file go over the chat.
DROP = """() => {
  const data = new DataTransfer();
  data.items.add(new File(['dropped words'], 'note.txt', { type: 'text/plain' }));
  document.querySelector('main.chat').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
}"""
WORDS = b"dropped words"
#: What it does when somebody chooses files; gives back the digest of the large one. (Its own way needs real paths.)
CHOOSE = """async ([name, picture, size]) => {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(picture), (each) => each.charCodeAt(0))], name, { type: 'image/png' }));
  data.items.add(new File([bytes], 'tides.bin'));
  const field = document.querySelector('[data-testid=file-input]');
  field.files = data.files;
  field.dispatchEvent(new Event('change', { bubbles: true }));
  return [...digest].map((each) => each.toString(16).padStart(2, '0')).join('');
}"""


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A picture of some size, drawn line by line."""
    import struct
    import zlib

    width, height = 320, 200
    lines = b"".join(
        b"\0" + bytes(value for x in range(width) for value in (x * 255 // width, y, 160)) for y in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path = tmp_path / "tide pool.png"
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


def ask_quickly(desk: Desk) -> None:
    with host(desk.state) as client:
        quick_answers(client)


def kept(client: HostClient) -> dict[str, tuple[int, str]]:
    """Name to size and digest, of all attachments."""
    found = client.query("attachment.list", limit=100)["attachments"]
    return {each["meta"]["title"]: (each["size"], each["sha256"]) for each in found}


def test_files_that_are_chosen_and_dropped_go_with_the_message(desk: Desk, page_address: str, picture: Path) -> None:
    """Item 1, 7: bytes arrive whole though host and worker die; the picture is shown, the file comes back."""
    ask_quickly(desk)
    panel = desk.panel(page_address)
    size = 32 * MIB
    large = panel.evaluate(CHOOSE, [picture.name, base64.b64encode(picture.read_bytes()).decode(), size])
    wait_until(panel, lambda: 0 < sent_of(panel, "tides.bin") < 1, "bytes on their way", 30)
    desk.kill(desk.host())
    stop_worker(panel)
    panel.evaluate(DROP)
    panels.ask(panel, "What is in these?")
    message = panel.locator('[data-testid="message"][data-role="user"][data-state="saved"]')
    expect(message).to_have_count(1, timeout=60_000)
    expect(panels.part(panel, "draft-file")).to_have_count(0)
    expect(message.locator('[data-state="picture"] img')).to_be_visible(timeout=15_000)
    expect(message.locator('[data-state="file"]')).to_have_count(2)
    with host(desk.state) as client:
        assert kept(client) == {
            picture.name: (picture.stat().st_size, hashlib.sha256(picture.read_bytes()).hexdigest()),
            "tides.bin": (size, large),
            "note.txt": (len(WORDS), hashlib.sha256(WORDS).hexdigest()),
        }
    message.locator('[data-state="picture"]').click()
    opened = panels.part(panel, "dialog")
    expect(opened.locator("img.large")).to_be_visible()
    width = opened.locator("img.large").evaluate("(image) => image.naturalWidth")
    assert width == 320
    with panel.expect_download() as download:
        panels.part(opened, "download").click()
    assert download.value.suggested_filename == "tide pool.png"
    assert Path(download.value.path()).read_bytes() == picture.read_bytes()


def sent_of(panel: Page, name: str) -> float:
    """How far the file is that is being sent, from 0 to 1; 0 too when it is not sent."""
    bars = panels.part(panel, "draft-file").filter(has_text=name).locator("progress")
    values: list[float] = bars.evaluate_all("(all) => all.map((each) => each.value)")
    return values[0] if values else 0.0


class Watcher(BaseHTTPRequestHandler):
    """Remembers who called."""

    called: list[str]

    def do_GET(self) -> None:
        self.called.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def watched() -> Iterator[tuple[str, list[str]]]:
    """A server that a page may want to reach, and what it was asked for."""
    called: list[str] = []
    handler = type("Handler", (Watcher,), {"called": called})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", called
        finally:
            server.shutdown()
            thread.join()


def hostile_copy(outside: str) -> bytes:
    """A saved page that tries everything to be heard of, and says so where a script of it runs."""
    page = f"""<!doctype html><html><head><meta charset="utf-8"><title>Tide pools</title>
<meta http-equiv="refresh" content="0;url={outside}/refresh">
<link rel="stylesheet" href="cid:css@mhtml.blink"><link rel="stylesheet" href="{outside}/sheet.css">
<script>document.title = 'ran'; fetch('{outside}/script');</script></head>
<body onload="fetch('{outside}/onload')"><h1>Tide pools</h1><p id="said">Limpets return home.</p>
<img id="own" src="https://tides.example/own.png"><img src="{outside}/img.png" onerror="fetch('{outside}/onerror')">
<svg><image href="{outside}/svg.png"></image><script>fetch('{outside}/svgscript')</script></svg>
<iframe src="cid:frame@mhtml.blink"></iframe><iframe src="{outside}/frame"></iframe>
<object data="{outside}/object"></object><embed src="{outside}/embed">
<form action="{outside}/form"><input name="q"><button>Send</button></form>
<a id="away" href="{outside}/link">Away</a><div style="background:url({outside}/style.png)">Styled</div>
<video src="{outside}/film.mp4" poster="{outside}/poster.png"></video></body></html>"""
    sheet = (
        f"#said {{ color: rgb(1, 2, 3) }} @import '{outside}/import.css'; h1 {{ background: url('{outside}/c.png') }}"
    )
    inner = f"<p>In a frame</p><img src='{outside}/inner.png'>"
    parts = [
        ("text/html", "Content-Location: https://tides.example/pools", page.encode(), "8bit"),
        ("text/css", "Content-ID: <css@mhtml.blink>", sheet.encode(), "8bit"),
        ("image/png", "Content-Location: https://tides.example/own.png", base64.encodebytes(PNG), "base64"),
        ("text/html", "Content-ID: <frame@mhtml.blink>", inner.encode(), "8bit"),
    ]
    lines = [
        b'MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype="text/html";\r\n\tboundary="--b--x"\r\n\r\n'
    ]
    for mime, place, body, encoding in parts:
        head = f"----b--x\r\nContent-Type: {mime}\r\nContent-Transfer-Encoding: {encoding}\r\n{place}\r\n\r\n"
        lines += [head.encode(), body, b"\r\n"]
    return b"".join([*lines, b"----b--x--\r\n"])


def test_a_kept_page_is_read_again_without_network_and_without_its_code(desk: Desk, page_address: str) -> None:
    """Item 4: text, copy and picture are shown; nothing of the page runs, nothing leaves; the page can be deleted."""
    with watched() as (outside, called), host(desk.state) as client:
        about = {"provenance": "page", "trust": "untrusted", "sourceRef": "https://tides.example/pools"}
        parts = [
            upload(client, hostile_copy(outside), kind="page_snapshot", mime="multipart/related", **about),
            upload(client, PNG, kind="screenshot", mime="image/png", **about),
        ]
        text = f"# Tide pools\n\nLimpets return. <img src='{outside}/t.png' onerror=alert(1)>\n\n![x]({outside}/md.png)"
        client.ack(
            "page.capture",
            url="https://tides.example/pools",
            title="Tide pools",
            capturedAt=1_700_000_000_000,
            parts=parts,
            text=text,
        )
        client.ack(
            "page.capture",
            url="https://other.example/",
            title="Other",
            capturedAt=1_600_000_000_000,
            parts=[],
            text="x",
        )
        panel = desk.panel(page_address)
        panels.part(panel, "open-menu").click()
        panels.part(panel, "menu-pages").click()
        items = panels.part(panel, "page-item")
        expect(items).to_have_count(2)
        panels.part(panel, "page-site").fill("tides.example")
        expect(items).to_have_count(1)
        items.first.locator("button.open").click()
        expect(panels.part(panel, "reader-text").get_by_role("heading", name="Tide pools")).to_be_visible()
        panel.locator('[data-testid="reader-form"][data-form="copy"]').click()
        frame = panel.frame_locator('[data-testid="reader-copy"]')
        expect(frame.locator("#said")).to_have_text("Limpets return home.")
        expect(frame.frame_locator("iframe").locator("p")).to_have_text("In a frame")
        assert frame.locator("#said").evaluate("(element) => getComputedStyle(element).color") == "rgb(1, 2, 3)"
        assert frame.locator("#own").evaluate("(image) => image.naturalWidth") == 2
        frame.locator("#away").click()
        frame.get_by_role("button", name="Send").click()
        expect(frame.locator("#said")).to_be_visible()
        assert panel.locator('[data-testid="reader-copy"]').get_attribute("sandbox") == ""
        panel.locator('[data-testid="reader-form"][data-form="picture"]').click()
        expect(panel.locator(".reader-picture img")).to_be_visible()
        desk.browsers[-1].page.goto(f"{outside}/alive")
        assert [path for path in called if path != "/favicon.ico"] == ["/alive"]
        panels.part(panel, "open-menu").click()
        panel.get_by_role("menuitem", name="Delete page").click()
        panels.part(panel, "confirm").click()
        expect(items).to_have_count(0)
        assert [page["title"] for page in client.query("page.list", limit=10)["pages"]] == ["Other"]


def test_a_hit_on_another_branch_brings_that_branch(desk: Desk, page_address: str) -> None:
    """Item 6: found from one character on, in any script, by keyboard alone, and shown where it stands."""
    with host(desk.state) as client:
        long = conversation(client, "A long talk", 460)
        above = client.query("thread.page", threadId=long, beforeNodeId=leaf_of(client, long), limit=500)["nodes"]
        first = above[0]["id"]
        early = client.ack(
            "node.append", threadId=long, parentId=first, **said("assistant_message", "潮汐 come twice a day.")
        )
        client.ack("node.append", threadId=long, parentId=early["nodeId"], **said("user_message", "Why twice?"))
        tip = client.ack("node.append", threadId=long, parentId=first, **said("assistant_message", "Another answer."))
        conversation(client, "A short talk", 2)
        assert tip["nodeId"] == leaf_of(client, long)
    panel = desk.panel(page_address)
    panels.part(panel, "composer").press("Control+k")
    field = panels.part(panel, "search-field")
    expect(field).to_be_focused()
    panel.keyboard.insert_text("汐")
    hits = panels.part(panel, "search-hit")
    expect(hits).to_have_count(1)
    expect(hits.locator("mark")).to_have_text("汐")
    field.press("ArrowDown")
    expect(hits.first).to_be_focused()
    panel.keyboard.press("Enter")
    expect(panel.locator(f'[data-node-id="{early["nodeId"]}"]')).to_be_in_viewport(timeout=10_000)
    expect(panel.get_by_text("Why twice?")).to_be_visible()
    panel.keyboard.press("Control+k")
    field.fill("Answer 460")
    panel.locator('[data-testid="search-where"][data-where="messages"]').click()
    wait_until(panel, lambda: hits.count() > 0 and "460" in hits.first.inner_text(), "the long branch's tip", 10)
    field.press("Enter")
    hits.first.click()
    expect(panel.get_by_text("Answer 460.")).to_be_visible(timeout=10_000)
    panel.keyboard.press("Control+k")
    field.fill("nothing of this kind")
    expect(panels.part(panel, "search-hits")).to_have_attribute("data-state", "done")
    expect(panels.part(panel, "search-hits")).to_contain_text("Nothing found.")
    panel.keyboard.press("Escape")
    expect(panels.part(panel, "composer")).to_be_visible()


def leaf_of(client: HostClient, thread_id: str) -> str:
    found: str = client.query("thread.subscribe", threadId=thread_id)["thread"]["leafId"]
    return found
