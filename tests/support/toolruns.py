"""Runs with tools under kill -9: a scripted model, a panel that answers what it is asked, deaths at random moments.

Each run writes a memory and a file (asked about), lists the tabs, asks the user, and answers. What it did is counted
afterwards: every act once, every command that was acknowledged answered alike when sent again, every run at its end.
"""

import os
import random
import signal
import time
import uuid
from collections import Counter
from typing import Any

from support.hostclient import HostClient, HostTimeout
from support.runners import PAUSE, runner_of, until
from support.steered import Call, Steered
from support.stores import Store, text

PATIENCE = 30.0


def script(call: Call) -> None:
    """The model: three steps, told apart by how many results have come since the last user's message."""
    at = max(index for index, message in enumerate(call.body["messages"]) if message["role"] == "user")
    results = sum(message["role"] == "tool" for message in call.body["messages"][at:])
    name = str(call.body["messages"][at]["content"])
    call.say(f"Step {results} ")
    time.sleep(0.01)  # the endpoint's own slowness: a part of what is being timed at random
    if results == 0:
        file = {"name": f"{name}.md", "content": f"About {name}"}
        call.use(("memory_write", {"key": name, "value": "kept"}), ("save_artifact", file), ("list_tabs", {}))
    elif results == 3:
        call.use(("ask_user", {"question": f"Is {name} done?"}))
    else:
        call.say(f"{name} is done.")
        call.end()


class Panel:
    """Answers approvals, questions and the browser's requests, resumes what was cut off, and kills."""

    def __init__(self, store: Store, far: Steered, seed: int) -> None:
        self.store = store
        self.far = far
        self.chance = random.Random(seed)
        self.client = str(uuid.uuid4())
        self.host: HostClient = store.open(client_id=self.client)
        self.acks: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        self.killed: Counter[str] = Counter()
        self._read = 0
        self._answered: set[str] = set()
        self._run = ""
        self._kill_at = float("inf")
        far.play(script)
        self.command("connection.save", connection=far.with_tools)
        self.thread = str(self.command("thread.create")["threadId"])
        self.host.query("thread.subscribe", threadId=self.thread)

    def run(self, name: str) -> str:
        """One run to its end, with one death at some moment of it; its id."""
        overrides = {**self.far.overrides, "permissionPolicy": "always"}
        ack = self.command("turn.submit", threadId=self.thread, input=text(name), overrides=overrides)
        self._run = ack["runId"]
        self._kill_at = time.monotonic() + self.chance.uniform(0, 0.5)
        end = time.monotonic() + PATIENCE
        while (state := self._state()) != "completed":
            assert time.monotonic() < end, f"{name} is stuck: {state}"
            if time.monotonic() >= self._kill_at:
                self._kill(state)
            self._pump(state)
            time.sleep(PAUSE)
        self._kill_at = float("inf")
        return self._run

    def command(self, op: str, **members: Any) -> dict[str, Any]:
        """Sent once, and again to the next host where the answer did not come; now and then somebody dies meanwhile."""
        members["submissionId"] = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        self.host.send(op, **members)
        if self._kill_at < float("inf") and self.chance.random() < 0.1:
            self._kill("a command")
        try:
            answer = self.host.answer(members["submissionId"], timeout=1)
        except HostTimeout:
            answer = self.host.ask(op, **members)
        assert answer["type"] == "command.ack", answer
        self.acks.append((op, members, answer))
        return answer

    def check_answers(self) -> None:
        """Each acknowledged command again: answered as it was."""
        for op, members, answer in self.acks:
            assert self.host.ask(op, **members) == answer, op

    def _state(self) -> str:
        return str(self.host.query("run.get", runId=self._run)["run"]["state"])

    def _kill(self, state: str) -> None:
        self._kill_at = float("inf")
        if self.chance.random() < 0.25:
            self.killed[f"host: {state}"] += 1
            self.host.kill()
            self.host = self.store.open(client_id=self.client)
            self._read = 0
            self._meet(self.host.query("thread.subscribe", threadId=self.thread))
            return
        self.killed[state] += 1
        pid = until(lambda: runner_of(self.store.state), "runner")
        os.kill(pid, signal.SIGKILL)

    def _pump(self, state: str) -> None:
        events = self.host.events[self._read :]
        self._read += len(events)
        for event in events:
            if event["type"] == "approval.request":
                self._approve(event["approvalId"])
            elif event["type"] == "interaction.request":
                self._tell(event["interactionId"])
            elif event["type"] == "browser.request":
                tabs = {"tabs": [{"tabId": 1, "title": "T", "url": "https://t.example/", "active": True}]}
                request = event["requestId"]
                answer = self.host.ask("browser.response", requestId=request, ok=True, result=tabs)
                assert answer["type"] == "command.ack" or answer["code"] == "conflict", answer
        if state == "interrupted":
            self.command("run.resume", threadId=self.thread, runId=self._run)

    def _meet(self, snapshot: dict[str, Any]) -> None:
        for approval in snapshot["approvals"]:
            self._approve(approval["approvalId"])
        for interaction in snapshot["interactions"]:
            self._tell(interaction["interactionId"])

    def _approve(self, approval: str) -> None:
        if approval not in self._answered:
            self._answered.add(approval)
            self.command("approval.response", approvalId=approval, decision={"kind": "accept"})

    def _tell(self, interaction: str) -> None:
        if interaction not in self._answered:
            self._answered.add(interaction)
            self.command("interaction.response", interactionId=interaction, response={"answer": "yes"})


def sweep(store: Store, far: Steered, rounds: int, seed: int) -> Counter[str]:
    """So many runs, each with a death; in which states somebody died. Raises AssertionError where a promise broke."""
    panel = Panel(store, far, seed)
    names = [f"thing-{number}" for number in range(rounds)]
    for name in names:
        panel.run(name)
    panel.check_answers()
    memories = panel.host.query("memory.list")["memories"]
    assert {(memory["key"], memory["revision"]) for memory in memories} == {(name, 1) for name in names}
    listed = panel.host.query("attachment.list", threadId=panel.thread, limit=500)["attachments"]
    assert Counter(file["meta"]["title"] for file in listed) == Counter(f"{name}.md" for name in names)
    nodes = _whole(panel.host, panel.thread)
    kinds = Counter(node["type"] for node in nodes)
    assert kinds["tool_call"] == kinds["tool_result"] == 4 * rounds, kinds
    assert all(node["payload"]["ok"] for node in nodes if node["type"] == "tool_result")
    assert kinds["approval_decision"] == 3 * rounds
    texts = [node["payload"]["content"][0]["text"] for node in nodes if node["type"] == "assistant_message"]
    for name in names:
        assert sum(said == f"Step 4 {name} is done." for said in texts) == 1, name
    snapshot = panel.host.query("thread.subscribe", threadId=panel.thread)
    assert [snapshot[member] for member in ("approvals", "interactions", "recoverable", "queue")] == [[], [], [], []]
    return panel.killed


def _whole(host: HostClient, thread: str) -> list[dict[str, Any]]:
    shown = host.query("thread.subscribe", threadId=thread)
    nodes: list[dict[str, Any]] = shown["nodes"]
    while shown["before"] is not None:
        shown = host.query("thread.page", threadId=thread, beforeNodeId=shown["before"], limit=200)
        nodes = [*shown["nodes"], *nodes]
        if not shown["nodes"]:
            break
    return nodes
