"""A person asks about a page; whatever dies in the middle, the answer and the history do not."""

import json
import shutil

from playwright.sync_api import Page, expect

from e2e.desk import Desk, answer, expect_whole, one_line, open_thread, text_of, wait_for_text, wait_until
from lib import panel as panels
from support.runners import until

STORY = "Tell me a long story about a fisherman and the sea."


def ask_for_a_story(panel: Page) -> None:
    panels.ask(panel, STORY)


def kept(desk: Desk) -> tuple[str, list[tuple[str, str]]]:
    """The one conversation as another process reads it: its id, and who said what."""
    (thread,) = json.loads(desk.sidekeep("threads", "--json").stdout)["threads"]
    nodes = json.loads(desk.sidekeep("show", thread["id"], "--json").stdout)["nodes"]
    said = [(node["type"], "".join(block["text"] for block in node["payload"]["content"])) for node in nodes]
    return thread["id"], said


def test_an_answer_about_a_page_grows_before_ones_eyes(desk: Desk, page_address: str) -> None:
    """The page goes with the question, the text arrives in pieces, and what is on disk is what was read."""
    panel = desk.panel(page_address)
    panels.attach_page(panel)
    panels.ask(panel, "Summarise this page")
    readings: list[str] = []

    def whole() -> bool:
        text = text_of(answer(panel))
        if text and (not readings or text != readings[-1]):
            readings.append(text)
        return answer(panel).count() == 1 and answer(panel).get_attribute("data-state") == "final"

    wait_until(panel, whole, "whole answer")
    assert len(readings) >= 3, readings
    assert [len(text) for text in readings] == sorted(len(text) for text in readings)
    expect(panels.part(answer(panel), "model-label")).to_have_attribute("data-connection", "local")
    expect(panels.part(panel, "unsaved-badge")).to_have_count(0)

    _, said = kept(desk)
    assert [kind for kind, _ in said] == ["user_message", "assistant_message"]
    assert one_line(said[1][1]) == one_line(text_of(answer(panel)))
    attached = json.loads(desk.sidekeep("show", kept(desk)[0], "--json").stdout)["nodes"][0]["payload"]
    (context,) = attached["attachedContext"]
    assert (context["url"], context["title"], context["trust"]) == (
        page_address,
        "The Life of a Tide Pool",
        "untrusted",
    )
    assert "keystone species" in context["text"]


def test_a_killed_host_disturbs_no_answer(desk: Desk, page_address: str) -> None:
    """kill -9 of the host in the middle: the panel recovers and the same answer goes on to its end (E38, E40)."""
    panel = desk.panel(page_address)
    ask_for_a_story(panel)
    before = wait_for_text(panel, answer(panel))
    with desk.model_held():
        before = wait_for_text(panel, answer(panel), before[:1])
        dead, runner = desk.host(), desk.runner()
        desk.kill(dead)
        wait_until(panel, lambda: desk.hosts() and desk.hosts() != [dead], "new host")
        panels.wait_until_connected(panel)
        expect(answer(panel)).to_have_attribute("data-state", "streaming")
        assert one_line(text_of(answer(panel))).startswith(one_line(before))
    during = wait_for_text(panel, answer(panel), text_of(answer(panel)))
    assert one_line(during).startswith(one_line(before))
    final = expect_whole(answer(panel))
    assert one_line(final).startswith(one_line(before))
    assert panels.answers(panel).count() == 1
    assert desk.runner() == runner
    _, said = kept(desk)
    assert [kind for kind, _ in said] == ["user_message", "assistant_message"]
    assert one_line(said[1][1]) == one_line(final)


def test_a_killed_browser_stops_no_answer(desk: Desk, page_address: str) -> None:
    """kill -9 of the whole browser in the middle: started again, the finished answer is there (E37)."""
    panel = desk.panel(page_address)
    ask_for_a_story(panel)
    before = wait_for_text(panel, answer(panel))
    runner = desk.runner()
    with desk.model_held():
        desk.kill_browser(desk.browsers[0])
        wait_until_no_host(desk)
    panel = desk.panel(page_address)
    thread, _ = kept(desk)
    open_thread(panel, thread)
    final = expect_whole(answer(panel))
    assert one_line(final).startswith(one_line(before))
    assert desk.runner() == runner
    assert one_line(kept(desk)[1][1][1]) == one_line(final)


def test_an_answer_ends_while_no_browser_lives(desk: Desk, page_address: str) -> None:
    """Nobody looks: the runner writes the answer to its end all the same, and says that it has not been read."""
    panel = desk.panel(page_address)
    ask_for_a_story(panel)
    wait_for_text(panel, answer(panel))
    with desk.model_held():
        desk.kill_browser(desk.browsers[0])
        wait_until_no_host(desk)
    until(lambda: [kind for kind, _ in kept(desk)[1]] == ["user_message", "assistant_message"], "answer", 120)
    (thread,) = json.loads(desk.sidekeep("threads", "--json").stdout)["threads"]
    assert (thread["status"], thread["unread"]) == ("done", True)


def wait_until_no_host(desk: Desk) -> None:
    until(lambda: not desk.hosts(), "end of the hosts")


def test_a_killed_runner_leaves_what_was_said_and_can_go_on(desk: Desk, page_address: str) -> None:
    """kill -9 of the runner in the middle: the text stays, marked as interrupted; *Continue* brings the whole (E39)."""
    panel = desk.panel(page_address)
    ask_for_a_story(panel)
    wait_for_text(panel, answer(panel))
    with desk.model_held():
        before = wait_for_text(panel, answer(panel))
        dead = desk.runner()
        desk.kill(dead)
    card = panels.part(panel, "recovery-card")
    # The bar: nothing stays `running` for more than 3 s after its runner died while a host lives.
    expect(card).to_be_visible(timeout=3000)
    partial = text_of(card)
    assert one_line(partial).startswith(one_line(before))
    expect(panels.part(panel, "message").filter(has_text="fisherman and the sea")).to_be_visible()
    assert json.loads(desk.sidekeep("threads", "--json").stdout)["threads"][0]["status"] == "interrupted"

    panels.part(panel, "resume").click()
    expect(card).to_have_count(0)
    final = expect_whole(answer(panel))
    assert len(final) > len(partial)
    assert panels.answers(panel).count() == 1
    assert desk.runner() != dead
    assert [kind for kind, _ in kept(desk)[1]] == ["user_message", "assistant_message"]


def test_a_new_profile_finds_everything(desk: Desk, page_address: str) -> None:
    """The profile is wiped, the extension loaded into a new one: every conversation is there (E2)."""
    panel = desk.panel(page_address)
    panels.attach_page(panel)
    panels.ask(panel, "What is a keystone species?")
    final = expect_whole(answer(panel))
    thread, said = kept(desk)
    desk.close(desk.browsers[0])
    shutil.rmtree(desk.profile())

    panel = desk.panel(page_address, "another")
    open_thread(panel, thread)
    assert one_line(expect_whole(answer(panel))) == one_line(final)
    expect(panels.part(panel, "context-chip")).to_contain_text("The Life of a Tide Pool")
    assert kept(desk) == (thread, said)


def test_two_browsers_show_one_history(desk: Desk, page_address: str) -> None:
    """What one profile writes, another shows while it is written, and reads alike (E43)."""
    first = desk.panel(page_address, "one")
    second = desk.panel(page_address, "two")
    ask_for_a_story(first)
    wait_for_text(first, answer(first))
    with desk.model_held():
        thread, _ = kept(desk)
        open_thread(second, thread)
        wait_for_text(second, answer(second))
        expect(answer(second)).to_have_attribute("data-state", "streaming")
    assert one_line(expect_whole(answer(second))) == one_line(expect_whole(answer(first)))
