"""The service worker is stopped, the panel reloaded, the port lost: the answer goes on, nothing is said twice."""

import json
import re
import shutil
import stat
from pathlib import Path

from playwright.sync_api import Page, expect

from e2e.desk import Desk, answer, expect_whole, one_line, text_of, wait_for_text, wait_until
from e2e.seeded import host, quick_answers
from lib import panel as panels
from lib.browser import Chromium
from lib.checkout import BUILT_EXTENSION

STORY = "Tell me a long story about a fisherman and the sea."


def stop_worker(panel: Page) -> None:
    """As the browser does when it has been idle for half a minute, only at once."""
    session = panel.context.new_cdp_session(panel)
    session.send("ServiceWorker.enable")
    session.send("ServiceWorker.stopAllWorkers")
    session.detach()


def watch_phases(panel: Page) -> None:
    """Writes down each phase that the panel shows from now on."""
    panel.evaluate(
        """() => {
          const status = document.querySelector('[data-testid=host-status]');
          window.phases = [];
          new MutationObserver(() => window.phases.push(status.dataset.phase)).observe(status, {attributes: true});
        }"""
    )


def phases(panel: Page) -> list[str]:
    found: list[str] = panel.evaluate("() => window.phases")
    return found


def stop_worker_and_see_it_return(panel: Page) -> None:
    watch_phases(panel)
    stop_worker(panel)
    wait_until(panel, lambda: "connecting" in phases(panel), "end of the worker", 20)
    expect(panels.part(panel, "host-status")).to_have_attribute("data-code", "connected", timeout=20_000)


def said(desk: Desk) -> list[tuple[str, str]]:
    """The one conversation as another process reads it."""
    (thread,) = json.loads(desk.sidekeep("threads", "--json").stdout)["threads"]
    nodes = json.loads(desk.sidekeep("show", thread["id"], "--json").stdout)["nodes"]
    return [(node["type"], "".join(block["text"] for block in node["payload"]["content"])) for node in nodes]


def test_a_worker_stopped_while_idle_is_back_with_the_next_question(desk: Desk, page_address: str) -> None:
    """Ten times stopped between questions: each is asked once and answered once (E36, E40)."""
    with host(desk.state) as client:
        quick_answers(client)
    panel = desk.panel(page_address)
    for number in range(10):
        panels.ask(panel, f"Question {number}?")
        wait_until(panel, lambda number=number: len(said(desk)) == 2 * number + 2, f"answer {number}")
        stop_worker_and_see_it_return(panel)
    assert [text for kind, text in said(desk) if kind == "user_message"] == [f"Question {n}?" for n in range(10)]
    assert len(desk.hosts()) == 1


def test_a_worker_stopped_while_an_answer_streams_loses_no_word(desk: Desk, page_address: str) -> None:
    """Stopped again and again in the middle: the text never shrinks, and ends as it is on disk (E36, E38, E40)."""
    panel = desk.panel(page_address)
    panels.ask(panel, STORY)
    seen = wait_for_text(panel, answer(panel))
    for _ in range(4):
        if answer(panel).get_attribute("data-state") != "streaming":
            break
        stop_worker(panel)
        seen = (
            wait_for_text(panel, answer(panel), seen) if panels.part(panel, "stop").count() else text_of(answer(panel))
        )
    whole = expect_whole(answer(panel))
    assert one_line(whole).startswith(one_line(seen)[:40])
    kinds = said(desk)
    assert [kind for kind, _ in kinds] == ["user_message", "assistant_message"]
    assert one_line(kinds[1][1]) == one_line(whole)


def test_a_command_sent_in_the_moment_the_worker_ends_is_done_once(desk: Desk, page_address: str) -> None:
    """Ten messages, the worker stopped with each of them: ten in the store, in order, none twice (E34, E36)."""
    with host(desk.state) as client:
        quick_answers(client)
    panel = desk.panel(page_address)
    for number in range(10):
        panels.part(panel, "composer").fill(f"Message {number}")
        panels.part(panel, "send").click()
        stop_worker(panel)
    expect(panels.part(panel, "unsaved-badge")).to_have_count(0, timeout=60_000)
    wait_until(panel, lambda: len(said(desk)) == 20, "ten answers", 60)
    assert [text for kind, text in said(desk) if kind == "user_message"] == [f"Message {n}" for n in range(10)]


def test_a_panel_reloaded_in_the_middle_shows_the_whole_answer(desk: Desk, page_address: str) -> None:
    """After a reload the beginning is there at once, and the end equals what is on disk (E37, E38)."""
    panel = desk.panel(page_address)
    panels.ask(panel, STORY)
    wait_for_text(panel, answer(panel))
    with desk.model_held():
        wait_until(panel, lambda: answer(panel).get_attribute("data-state") == "streaming", "stream", 10)
        before = text_of(answer(panel))
        panel.reload()
        expect(answer(panel)).to_have_attribute("data-state", "streaming", timeout=20_000)
        assert one_line(text_of(answer(panel))).startswith(one_line(before))
    whole = expect_whole(answer(panel))
    assert one_line(said(desk)[1][1]) == one_line(whole)


def test_many_workers_leave_one_host(desk: Desk, page_address: str) -> None:
    """Forty workers, one after the other: one host a profile at the end, none when the browser is closed (E41)."""
    with host(desk.state) as client:
        quick_answers(client)
    panel = desk.panel(page_address)
    watch_phases(panel)
    for _ in range(40):
        before = len(phases(panel))
        stop_worker(panel)
        wait_until(panel, lambda before=before: len(phases(panel)) > before + 1, "the next worker", 20)
    if panels.part(panel, "retry").count():
        panels.part(panel, "retry").click()
    expect(panels.part(panel, "host-status")).to_have_attribute("data-code", "connected", timeout=90_000)
    wait_until(panel, lambda: len(desk.hosts()) == 1, "one host", 20)


NEWER = """#!/usr/bin/env python3
import json, struct, sys
open({log!r}, "a").write("started\\n")
size = struct.unpack("=I", sys.stdin.buffer.read(4))[0]
hello = json.loads(sys.stdin.buffer.read(size))
answer = json.dumps({{
    "type": "fatal.reload_required", "submissionId": hello["submissionId"], "protocol": "sidekeep/2",
    "clientProtocol": hello["protocol"], "host": {{"version": "9.0.0", "pid": 1, "instanceId": "x"}},
    "message": "newer",
}}).encode()
sys.stdout.buffer.write(struct.pack("=I", len(answer)) + answer)
sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""


def newer_host(desk: Desk, log: Path) -> None:
    """A companion of another protocol in the place of ours."""
    program = desk.folder / "newer-host"
    program.write_text(NEWER.format(log=str(log)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    manifest = desk.manifest()
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "path": str(program)}))


def test_a_companion_of_another_protocol_is_said_and_the_panel_stays(desk: Desk, page_address: str) -> None:
    """An upgrade of the companion alone: nothing newer lies on the disk, so no reload; what to do is said (E11)."""
    desk.register()
    log = desk.folder / "starts"
    right = desk.manifest().read_text()
    newer_host(desk, log)
    panel = desk.browser(page_address).open_panel()
    expect(panels.part(panel, "host-status")).to_have_attribute("data-code", "reload_required", timeout=20_000)
    expect(panel.get_by_text(re.compile("different versions of the protocol"))).to_be_visible()
    # It would end the same.
    expect(panel.get_by_text("It is not tried again by itself.")).to_be_visible()
    assert log.read_text().count("started") == 1

    desk.manifest().write_text(right)
    panels.part(panel, "retry").click()
    panels.wait_until_connected(panel)


def test_an_upgrade_of_both_reloads_the_extension_once(desk: Desk, page_address: str) -> None:
    """With a newer extension on the disk it reloads itself, and once only though the companion stays strange (E11)."""
    desk.register()
    log = desk.folder / "starts"
    newer_host(desk, log)
    # Without developer mode the browser switches off what reloads itself from a folder.
    preferences = desk.profile() / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True)
    preferences.write_text(json.dumps({"extensions": {"ui": {"developer_mode": True}}}))
    built = desk.folder / "extension"
    shutil.copytree(BUILT_EXTENSION, built)
    chromium = Chromium(
        desk.playwright,
        desk.program,
        desk.profile(),
        built,
        environment=desk.environment(),
        arguments=["--lang=en-US"],
    )
    desk.browsers.append(chromium)
    chromium.page.goto(page_address)
    manifest = json.loads((built / "manifest.json").read_text())
    (built / "manifest.json").write_text(json.dumps({**manifest, "version": "0.1.99"}))
    before = chromium.workers()
    chromium.press()
    wait_until(chromium.page, lambda: chromium.workers() - before, "reload of the extension", 20)
    panel = chromium.open_panel()
    expect(panels.part(panel, "host-status")).to_have_attribute("data-code", "reload_required", timeout=20_000)
    assert panel.evaluate("() => chrome.runtime.getManifest().version") == "0.1.99"
    expect(panel.get_by_text("It is not tried again by itself.")).to_be_visible()
    assert log.read_text().count("started") == 2
