"""What a person sets and takes back in the panel: memories, rules, limits, the queue, rewinds, other machines."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import Desk, expect_whole
from e2e.seeded import host, quick_answers
from e2e.test_accessibility import both
from lib import panel as panels
from support.hostclient import HostClient
from support.steered import Steered


def settings(panel: Page) -> None:
    panels.part(panel, "open-menu").click()
    panels.part(panel, "menu-settings").click()
    expect(panels.part(panel, "settings")).to_be_visible()


@pytest.fixture
def far(desk: Desk) -> Iterator[Steered]:
    """An endpoint that answers when it is told, the default model of this desk."""
    with Steered() as found:
        with HostClient(desk.state) as client:
            client.initialize()
            client.ready()
            client.ack("connection.save", connection=found.with_tools)
            chosen = {"models.default": found.overrides["model"], "titles.model": False, "policy.default": "auto"}
            client.ack("settings.set", patch=chosen)
        yield found


def test_memories_rules_and_limits_are_set_by_hand(desk: Desk, page_address: str) -> None:
    """A17 and more: seen, changed, added and forgotten; the rule is there; what was written is in the store."""
    with host(desk.state) as client:
        client.ack("memory.set", key="tea", value="green")
    panel = desk.panel(page_address)
    settings(panel)
    memory = panels.part(panel, "memory")
    expect(memory).to_contain_text("green")
    memory.get_by_role("button", name="Change", exact=True).click()
    form = panels.part(panel, "memory-form")
    form.locator("textarea").fill("black")
    form.get_by_role("button", name="Save").click()
    expect(memory).to_contain_text("black")
    panels.part(panel, "add-memory").click()
    form.locator("input").fill("coffee")
    form.locator("textarea").fill("none")
    form.get_by_role("button", name="Save").click()
    expect(memory).to_have_count(2)
    memory.filter(has_text="tea").get_by_role("button", name="Forget").click()
    expect(memory).to_have_count(1)

    rules = panels.part(panel, "rule-form")
    rules.locator("select[name=tool]").select_option("read_page")
    rules.locator("input").fill("bank.example")
    rules.get_by_role("button", name="Add a rule").click()
    expect(panels.part(panel, "rule")).to_contain_text("read_page · bank.example")
    panels.part(panel, "policy").select_option("always")
    panels.part(panel, "instructions").fill("Answer briefly.")
    panels.part(panel, "turn-budget").fill("5000")
    panels.part(panel, "save-turn-settings").click()
    expect(panels.part(panel, "toast")).to_contain_text("Saved")

    panels.part(panel, "add-connection").click()
    panels.part(panel, "template").select_option("Ollama")
    form = panels.part(panel, "connection-form")
    expect(form.locator("input[name=baseUrl]")).to_have_value("http://127.0.0.1:11434/v1")
    expect(form.locator("input[name=name]")).to_have_value("Ollama")
    assert both(panel) == []
    with host(desk.state) as client:
        (left,) = client.query("memory.list")["memories"]
        assert (left["key"], left["value"]) == ("coffee", "none")
        (rule,) = client.query("rule.list")["rules"]
        assert (rule["tool"], rule["origin"], rule["verdict"]) == ("read_page", "bank.example", "deny")
        kept = client.query("settings.get")["settings"]
        assert (kept["policy.default"], kept["instructions.global"], kept["budget.turn_tokens"]) == (
            "always", "Answer briefly.", 5000,
        )  # fmt: skip
    panels.part(panel, "rule").get_by_role("button").click()
    expect(panels.part(panel, "rule")).to_have_count(0)


def test_the_queue_is_changed_and_another_model_answers(desk: Desk, far: Steered, page_address: str) -> None:
    """A message that waits is said otherwise before it begins; an answer is given again by a model of one's choice."""
    panel = desk.panel(page_address)
    panels.ask(panel, "First")
    call = far.call()
    panels.ask(panel, "Secnod")
    queued = panels.part(panel, "queued")
    expect(queued).to_contain_text("Secnod")
    panels.part(queued, "edit-queued").click()
    panels.part(queued, "queued-text").fill("Second")
    panels.part(queued, "save-queued").click()
    expect(queued).to_contain_text("Second")
    call.say("One.")
    call.end()
    call = far.call()
    assert call.said[-1] == ("user", "Second")
    call.say("Two.")
    call.end()
    expect(panels.answers(panel)).to_have_count(2, timeout=30_000)
    expect(panels.part(panel, "stop")).to_have_count(0, timeout=30_000)
    panels.answers(panel).last.get_by_test_id("regenerate-with").click()
    choice = panels.part(panel, "regenerate-model")
    choice.select_option('["extract","extract"]')
    panels.part(panel, "confirm").click()
    expect(panels.part(panels.answers(panel).last, "model-label")).to_have_attribute(
        "data-connection", "extract", timeout=30_000
    )
    expect(panels.answers(panel).last.get_by_test_id("branch-pos")).to_have_text("2/2")


def test_a_turn_is_taken_back_with_its_files(desk: Desk, far: Steered, page_address: str, tmp_path: Path) -> None:
    """B12: a project by hand, the exact list, files and head back, the undo in the toast; the history's commits."""
    folder = tmp_path / "work"
    folder.mkdir()
    panel = desk.panel(page_address)
    settings(panel)
    panels.part(panel, "project-path").fill(str(folder))
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(panels.part(panel, "project")).to_contain_text(str(folder))
    with host(desk.state) as client:
        project = client.query("project.list")["projects"][1]["id"]
        thread = client.ack("thread.create", projectId=project, title="Work")["threadId"]
    panel.get_by_role("button", name="Back").click()
    panels.part(panel, "open-threads").click()
    panel.locator(f'[data-thread-id="{thread}"] .open').click()
    panels.ask(panel, "Write it")
    far.call().use(("write_file", {"path": "made.txt", "content": "made"}))
    call = far.call()
    call.say("Done.")
    call.end()
    expect_whole(panels.answers(panel).last)
    assert (folder / "made.txt").read_text() == "made"
    panel.locator('[data-testid="message"][data-role="user"]').get_by_test_id("rewind").click()
    expect(panels.part(panel, "rewind-file")).to_contain_text("made.txt is removed")
    assert both(panel) == []
    panels.part(panel, "confirm").click()
    expect(panels.part(panel, "undo")).to_be_visible()
    expect(panel.locator('[data-testid="message"][data-role="user"]')).to_have_count(0)
    expect(panels.part(panel, "composer")).to_have_value("Write it")
    assert list(folder.iterdir()) == []
    panels.part(panel, "undo").click()
    expect(panels.answers(panel).last).to_contain_text("Done.")
    assert (folder / "made.txt").read_text() == "made"
    panels.part(panel, "open-menu").click()
    panels.part(panel, "menu-history").click()
    expect(panels.part(panel, "commit").first).to_contain_text("Turn 1: Write it")
    assert both(panel) == []


def test_another_machine_gets_the_chats(desk: Desk, page_address: str, tmp_path: Path) -> None:
    """D7: the remote by hand, the button, what came of it; a remote that is none is said in a sentence."""
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    with host(desk.state) as client:
        quick_answers(client)
        client.ack("thread.create", title="Tide pools")
    panel = desk.panel(page_address)
    settings(panel)
    form = panels.part(panel, "sync")
    form.locator("input").fill(str(tmp_path / "nowhere"))
    form.get_by_role("button", name="Synchronise").click()
    expect(form).to_contain_text("There is no Git repository", timeout=30_000)
    form.locator("input").fill(str(remote))
    form.get_by_role("button", name="Synchronise").click()
    expect(form).to_contain_text("1 chats: 1 sent, 0 received.", timeout=30_000)
    expect(form).to_contain_text("0 chats have something new")
    heads = subprocess.run(["git", "-C", remote, "branch"], capture_output=True, text=True, check=True).stdout
    assert heads.strip().startswith("sessions/")
