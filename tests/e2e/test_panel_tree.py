"""The tree of a conversation by hand: versions, branches, forks, deletions and their undo, folders, tags, trash."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.desk import Desk, wait_until
from e2e.seeded import host, quick_answers
from lib import panel as panels

QUESTIONS = ("What do limpets do?", "And sea stars?")


@pytest.fixture
def chat(desk: Desk, page_address: str) -> Page:
    """A panel with two questions and their answers, tall enough to hold them all."""
    with host(desk.state) as client:
        quick_answers(client)
    panel = desk.panel(page_address)
    panel.set_viewport_size({"width": 420, "height": 1600})
    for number, question in enumerate(QUESTIONS):
        panels.ask(panel, question)
        expect(panels.answers(panel)).to_have_count(number + 1, timeout=30_000)
        settled(panel)
    return panel


def settled(panel: Page) -> None:
    """No answer is being written, everything is on disk."""
    expect(panels.part(panel, "stop")).to_have_count(0, timeout=30_000)
    expect(panels.part(panel, "unsaved-badge")).to_have_count(0)


def asked(panel: Page) -> list[str]:
    return [text.strip() for text in panel.locator('[data-role="user"] [data-testid="message-body"]').all_inner_texts()]


def question(panel: Page, text: str) -> Locator:
    return panel.locator('[data-testid="message"][data-role="user"]', has_text=text)


def versions(message: Locator) -> Locator:
    return message.get_by_test_id("branch-pos")


def listed(panel: Page) -> list[str]:
    return panels.titles(panel)


def choose(panel: Page, item: str, entry: str) -> None:
    """An entry of the menu of a chat in the list."""
    panels.part(panel, "thread-item").filter(has_text=item).first.get_by_test_id("item-menu").click()
    panel.get_by_role("menuitem", name=entry, exact=True).click()


def threads(desk: Desk, *words: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(desk.sidekeep("threads", *words, "--json").stdout)["threads"]
    return found


def test_versions_of_question_and_answer(desk: Desk, chat: Page) -> None:
    """Edit and resend, answer again, the second of two and back; the choice holds for the next panel (A3, E24)."""
    panels.part(question(chat, QUESTIONS[1]), "edit-message").click()
    expect(panels.part(chat, "composer")).to_have_value(QUESTIONS[1])
    panels.ask(chat, "And crabs?")
    expect(versions(question(chat, "And crabs?"))).to_have_text("2/2")
    settled(chat)
    assert asked(chat) == [QUESTIONS[0], "And crabs?"]

    question(chat, "And crabs?").get_by_test_id("branch-prev").click()
    expect(versions(question(chat, QUESTIONS[1]))).to_have_text("1/2")
    assert asked(chat) == list(QUESTIONS)

    panels.answers(chat).last.get_by_test_id("regenerate").click()
    expect(versions(panels.answers(chat).last)).to_have_text("2/2", timeout=30_000)
    settled(chat)
    panels.answers(chat).last.get_by_test_id("branch-prev").click()
    expect(versions(panels.answers(chat).last)).to_have_text("1/2")

    chat.reload()
    expect(versions(panels.answers(chat).last)).to_have_text("1/2", timeout=20_000)
    expect(versions(question(chat, QUESTIONS[1]))).to_have_text("1/2")


def test_a_deleted_message_comes_back(chat: Page) -> None:
    """The answer goes, what follows it stays; undo brings it back to its place (A4)."""
    before = panels.part(chat, "message-body").all_inner_texts()
    panels.answers(chat).first.get_by_test_id("delete-message").click()
    expect(panels.part(chat, "message")).to_have_count(3)
    assert asked(chat) == list(QUESTIONS)
    panels.part(chat, "undo").click()
    expect(panels.part(chat, "message")).to_have_count(4)
    assert panels.part(chat, "message-body").all_inner_texts() == before


def test_a_deleted_branch_says_how_long_it_is_and_comes_back(chat: Page) -> None:
    """All branches with their lengths, also those not on show; one deleted, and brought back whole (A3, E26)."""
    panels.part(question(chat, QUESTIONS[1]), "edit-message").click()
    panels.ask(chat, "And crabs?")
    expect(versions(question(chat, "And crabs?"))).to_have_text("2/2")
    settled(chat)

    def branches() -> Locator:
        panels.part(chat, "open-menu").click()
        chat.get_by_role("menuitem", name="Branches").click()
        return panels.part(chat, "branch-item")

    expect(branches()).to_have_count(2)
    expect(panels.part(chat, "branch-item").first).to_contain_text("4 messages")
    other = panels.part(chat, "branch-item").filter(has_text=QUESTIONS[1])
    other.get_by_test_id("delete-branch").click()
    expect(panels.part(chat, "branch-pos")).to_have_count(0)
    panels.part(chat, "undo").click()
    expect(versions(question(chat, QUESTIONS[1]))).to_have_text("1/2")
    assert asked(chat) == list(QUESTIONS)
    expect(panels.answers(chat)).to_have_count(2)


def test_a_fork_is_a_chat_of_its_own(desk: Desk, chat: Page) -> None:
    """From the first answer on: the new chat ends there, the old one keeps everything (A3)."""
    panels.answers(chat).first.get_by_test_id("fork-thread").click()
    expect(panels.part(chat, "message")).to_have_count(2)
    assert asked(chat) == [QUESTIONS[0]]
    wait_until(chat, lambda: len(threads(desk)) == 2, "two chats", 10)
    panels.part(chat, "open-threads").click()
    expect(panels.part(chat, "thread-item")).to_have_count(2)
    panels.part(chat, "thread-item").last.locator(".open").click()
    expect(panels.part(chat, "message")).to_have_count(4)


def test_the_way_of_a_chat_through_the_list(desk: Desk, chat: Page) -> None:
    """Renamed, pinned, put into a folder, tagged, archived and back; each outlives a reload of the panel (A1)."""
    panels.part(chat, "open-threads").click()
    choose(chat, QUESTIONS[0], "Rename")
    chat.get_by_test_id("rename").fill("Shore")
    chat.keyboard.press("Enter")
    choose(chat, "Shore", "Pin")
    expect(chat.get_by_role("heading", name="Pinned")).to_be_visible()
    choose(chat, "Shore", "Folder and tags…")
    panels.part(chat, "folder-choice").select_option("new")
    panels.part(chat, "new-folder").fill("Sea life")
    chat.keyboard.press("Enter")
    panels.part(chat, "new-tag").fill("tide, pools")
    chat.keyboard.press("Enter")
    expect(panels.part(chat, "tag")).to_have_text(["#tide", "#pools"])
    panels.part(chat, "confirm").click()
    expect(panels.part(chat, "thread-item").first).to_contain_text("Sea life")

    def thread() -> dict[str, object]:
        return threads(desk)[0]

    wait_until(chat, lambda: thread()["tags"] == ["tide", "pools"], "tags", 10)
    assert (thread()["title"], thread()["pinned"], "folderId" in thread()) == ("Shore", True, True)

    panels.part(chat, "list-filter").select_option(label="#tide")
    expect(panels.part(chat, "thread-item")).to_have_count(1)
    panels.part(chat, "list-filter").select_option(label="All chats")
    choose(chat, "Shore", "Archive")
    expect(panels.part(chat, "thread-item")).to_have_count(0)
    panels.part(chat, "undo").click()
    expect(panels.part(chat, "thread-item")).to_have_count(1)

    chat.reload()
    panels.part(chat, "open-threads").click()
    expect(chat.get_by_role("heading", name="Pinned")).to_be_visible()
    expect(panels.part(chat, "thread-item").first).to_contain_text("#tide")
    panels.part(chat, "list-filter").select_option(label="Sea life")
    chat.get_by_test_id("thread-list").get_by_label("Folders").click()
    chat.get_by_role("menuitem", name="Delete the folder").click()
    expect(panels.part(chat, "dialog")).to_contain_text("Its chats (1) stay")
    panels.part(chat, "confirm").click()
    expect(panels.part(chat, "thread-item")).to_have_count(1)
    wait_until(chat, lambda: "folderId" not in thread(), "leaving of the folder", 10)


def test_the_trash(desk: Desk, chat: Page) -> None:
    """Deleted with undo; deleted, found in the trash, restored; deleted for good only after a question (A5)."""
    panels.part(chat, "open-threads").click()
    choose(chat, QUESTIONS[0], "Delete")
    expect(panels.part(chat, "thread-item")).to_have_count(0)
    panels.part(chat, "undo").click()
    expect(panels.part(chat, "thread-item")).to_have_count(1)

    choose(chat, QUESTIONS[0], "Delete")
    expect(panels.part(chat, "thread-item")).to_have_count(0)
    chat.locator('[data-shelf="trash"]').click()
    choose(chat, QUESTIONS[0], "Restore")
    expect(panels.part(chat, "thread-item")).to_have_count(0)
    chat.locator('[data-shelf="active"]').click()
    expect(panels.part(chat, "thread-item")).to_have_count(1)
    panels.part(chat, "thread-item").locator(".open").click()
    expect(panels.part(chat, "message")).to_have_count(4)

    panels.part(chat, "open-threads").click()
    choose(chat, QUESTIONS[0], "Delete")
    chat.locator('[data-shelf="trash"]').click()
    choose(chat, QUESTIONS[0], "Delete for good")
    expect(panels.part(chat, "dialog")).to_contain_text("cannot be undone")
    panels.part(chat, "confirm").click()
    expect(panels.part(chat, "thread-item")).to_have_count(0)
    wait_until(chat, lambda: threads(desk) == [], "empty store", 10)
    expect(panels.part(chat, "undo")).to_have_count(0)
