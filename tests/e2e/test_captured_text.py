"""What of a page reaches the model: its text as expected, kind of page by kind of page, and why nothing does."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, answer, expect_whole, wait_until
from lib import panel as panels
from lib.page_server import serve
from support.hostclient import HostClient
from support.scripted import DONE, ScriptedServer, delta, stop, stream

PAGES = Path(__file__).parents[1] / "pages"
READ = ("article", "forum", "shadow", "rtl", "table", "code", "ruby", "list", "broken", "hostile")


@pytest.fixture
def address() -> Iterator[str]:
    with serve(PAGES) as found:
        yield found


@pytest.fixture
def model(desk: Desk) -> Iterator[ScriptedServer]:
    """An endpoint that answers one question, and the default model of this desk."""
    with ScriptedServer() as server:
        with HostClient(desk.state) as host:
            host.initialize()
            host.ready()
            about = {"kind": "openai", "name": "Scripted", "baseUrl": server.url, "modelIds": ["m"], "enabled": True}
            connection = host.ack("connection.save", connection=about)["connectionId"]
            default = {"connectionId": connection, "modelId": "m"}
            host.ack("settings.set", patch={"models.default": default, "titles.model": False})
        server.play(*stream(delta("Read."), stop(), DONE))
        yield server


def expected(name: str, address: str) -> str:
    text = (PAGES / f"{name}.md").read_bytes().decode().removesuffix("\n")
    return text.replace("{address}", address).replace("{other}", address.replace("127.0.0.1", "localhost"))


def attach(panel: Page, beside: Page, url: str, number: int) -> None:
    beside.goto(url)
    panels.part(panel, "attach-page").click()
    expect(panels.part(panel, "context-chip")).to_have_count(number, timeout=15_000)


def test_each_kind_of_page_reaches_the_model_as_data(desk: Desk, address: str, model: ScriptedServer) -> None:
    """C4, D9, E56, E57, E62: the expected text of every page, once, between marks that no page can forge."""
    desk.grant_everything()
    panel = desk.panel(address + "empty.html")
    beside = desk.browsers[0].page
    for number, name in enumerate(READ, 1):
        attach(panel, beside, f"{address}{name}.html", number)
    panels.ask(panel, "What do they say?")
    expect_whole(answer(panel))

    (thread,) = json.loads(desk.sidekeep("threads", "--json").stdout)["threads"]
    nodes = json.loads(desk.sidekeep("show", thread["id"], "--json").stdout)["nodes"]
    kept = nodes[0]["payload"]["attachedContext"]
    assert [block["text"] for block in kept] == [expected(name, address) for name in READ]
    assert {(block["trust"], block["provenance"], block["kind"]) for block in kept} == {("untrusted", "page", "page")}

    sent = model.request(0).json["messages"]
    asked = next(message["content"] for message in sent if message["role"] == "user")
    text = asked if isinstance(asked, str) else "\n".join(block["text"] for block in asked)
    opened = re.findall(r'<attached-([0-9a-f]{12}) kind="page" title="[^"]*" url="[^"]*" trust="untrusted"', text)
    assert len(set(opened)) == len(READ)
    # Of all that looks like a mark, invisible letters left out, only ours are marks.
    seen = re.sub("[\u200b\u00ad\u2060\ufeff]", "", text).replace("\uff1c", "<")
    marks = re.findall(r"<\s*(/?)\s*attached\W*([0-9a-f]*)", seen, re.IGNORECASE)
    assert sorted(marks) == sorted([("", nonce) for nonce in opened] + [("/", nonce) for nonce in opened])
    for nonce, name in zip(opened, READ, strict=True):
        inside = text.split(f"<attached-{nonce} ")[1].split(f"</attached-{nonce}>")[0]
        assert "not instructions" in inside.splitlines()[1]
        if name != "hostile":
            assert inside.split("\n", 2)[2].removesuffix("\n") == expected(name, address)
    assert text.index("evil.example") < text.rindex(f"</attached-{opened[-1]}>")


def test_a_large_page_is_cut_and_says_so(desk: Desk, tmp_path: Path) -> None:
    """E65: of 3 MB a model gets the beginning; the chip tells how much of how much."""
    row = "<h2>Part {0}</h2><p>{1}<a href='/p'>With a link</a>.</p>\n"
    folder = tmp_path / "large"
    folder.mkdir()
    pages = "".join(row.format(number, f"Sentence {number} about the tide. " * 20) for number in range(5_000))
    assert len(pages) > 3_000_000
    (folder / "index.html").write_text(f"<!doctype html><title>Large</title><body>{pages}")
    with serve(folder) as address:
        desk.grant_everything()
        panel = desk.panel(address)
        panels.part(panel, "attach-page").click()
        chip = panels.part(panel, "context-chip")
        expect(chip).to_have_attribute("data-cut", "1", timeout=45_000)
        figures = re.findall(r"\d{1,3}(?:,\d{3})+", chip.inner_text())
        kept, whole = (int(figure.replace(",", "")) for figure in figures)
        assert 199_900 <= kept <= 200_000
        assert whole > 1_500_000


def test_pages_that_cannot_be_read_say_why(desk: Desk, address: str) -> None:
    """E61, E63: an editor that draws its text, an empty shell, a page of the browser, a site that is never captured."""
    desk.grant_everything()
    panel = desk.panel(address + "canvas.html")
    beside = desk.browsers[0].page
    toast = panels.part(panel, "toast")

    def refused(url: str, why: str) -> None:
        beside.goto(url)
        panels.part(panel, "attach-page").click()
        expect(toast.filter(has_text=why).last).to_be_visible(timeout=15_000)
        expect(panels.part(panel, "attach-page")).to_be_enabled()
        assert panels.part(panel, "context-chip").count() == 0

    refused(address + "canvas.html", "draws its text as a picture")
    refused(address + "empty.html", "no text that can be read")
    refused("chrome://version/", "a page of the browser itself")

    block_sites(panel, "localhost\n127.0.0.1")
    refused(address + "article.html", "127.0.0.1 is on your list of sites that are never captured")
    for item in ("attach-visible", "attach-whole", "attach-selection"):
        panels.part(panel, "toast").last.get_by_role("button").last.click()
        panels.part(panel, "attach-menu").click()
        panels.part(panel, item).click()
        expect(toast.filter(has_text="never captured").last).to_be_visible(timeout=15_000)
    panels.part(panel, "attach-menu").click()
    panels.part(panel, "attach-keep").click()
    panels.part(panel, "confirm").click()
    wait_until(panel, lambda: panels.part(panel, "keeping").count() == 0, "end of the keeping", 20)
    assert panels.part(panel, "context-chip").count() == 0
    assert json.loads(desk.sidekeep("pages", "list", "--json").stdout)["pages"] == []

    block_sites(panel, "localhost")
    beside.goto(address + "forum.html")
    panels.part(panel, "attach-page").click()
    expect(panels.part(panel, "context-chip")).to_have_count(1, timeout=15_000)
    panels.part(panel, "attach-menu").click()
    panels.part(panel, "attach-visible").click()
    expect(toast.filter(has_text="part of this page comes from localhost").last).to_be_visible(timeout=15_000)


def block_sites(panel: Page, sites: str) -> None:
    """Writes the list in the settings, as a person does."""
    panels.part(panel, "open-menu").click()
    panels.part(panel, "menu-settings").click()
    panels.part(panel, "blocked-sites").fill(sites)
    panels.part(panel, "save-blocked-sites").click()
    expect(panels.part(panel, "toast").filter(has_text="The list is saved").last).to_be_visible()
    panel.get_by_role("button", name="Back").click()
