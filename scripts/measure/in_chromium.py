"""P1 and P2: durable appends by an extension page in Chromium: this host, a bare host, and Dexie in the page."""

import json
import os
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from lib.browser import Chromium
from lib.checkout import BUILT_EXTENSION, EXTENSION, program
from measure.rounds import Figure, at_least, in_turns
from sidekeep.install.manifest import HOST_NAME
from sidekeep.wire.origins import EXTENSION_ID

BARE = "dev.sidekeep.bare"
DEXIE = EXTENSION / "node_modules" / "dexie" / "dist" / "dexie.min.js"


def p1_p2(folder: Path, rounds: int) -> list[Figure]:
    """One after another and 32 in flight, 5,000 appends each in all."""
    import subprocess

    profile, state = folder / "profile", folder / "p1"
    profile.mkdir()
    subprocess.run(
        [program("sidekeep"), "install", "--user-data-dir", str(profile), "--state", str(state), "--yes"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    register(profile, folder, BARE, Path(__file__).with_name("bare_host.py"), folder / "bare.db")
    count = 5000 // rounds
    with sync_playwright() as playwright:
        chromium = Chromium(playwright, os.environ["SIDEKEEP_CHROMIUM"], profile, BUILT_EXTENSION)
        page = chromium.page
        page.goto(f"chrome-extension://{EXTENSION_ID}/manifest.json")
        page.evaluate(DEXIE.read_text())
        page.evaluate(_PAGE)
        page.evaluate("([host, bare]) => prepare(host, bare)", [HOST_NAME, BARE])

        def ported(which: str, depth: int) -> float:
            return float(page.evaluate("([which, n, d]) => ported(which, n, d)", [which, count, depth]))

        def dexie() -> float:
            return float(page.evaluate("(n) => dexie(n)", count))

        found = in_turns(
            {
                "ours": lambda: ported("host", 1),
                "bare": lambda: ported("bare", 1),
                "dexie": dexie,
                "many": lambda: ported("host", 32),
            },
            rounds,
        )
        page.evaluate("() => finish()")
        chromium.close()
    return [
        at_least("P1", "append through Chromium", "/s", found["ours"], found["bare"], "a bare host", 0.85),
        at_least("P1", "append through Chromium", "/s", found["ours"], found["dexie"], "Dexie, strict", 1.5),
        at_least("P2", "the same, 32 in flight", "/s", found["many"], found["dexie"], "Dexie, strict", 9),
    ]


def register(profile: Path, folder: Path, name: str, script: Path, *arguments: Path) -> None:
    """Makes a yardstick's script a native host of this profile."""
    launcher = folder / name
    words = " ".join(f'"{word}"' for word in (sys.executable, script, *arguments))
    launcher.write_text(f"#!/bin/sh\nexec {words}\n")
    launcher.chmod(0o755)
    manifest = {
        "name": name,
        "description": "A yardstick",
        "path": str(launcher),
        "type": "stdio",
        "allowed_origins": [f"chrome-extension://{EXTENSION_ID}/"],
    }
    (profile / "NativeMessagingHosts" / f"{name}.json").write_text(json.dumps(manifest))


_PAGE = """
(() => {
  const text = 'A message of the usual length, some words long. '.repeat(10);
  const payload = { content: [{ type: 'text', text }] };
  const ports = {};
  let threadId;
  let stamp = Date.now();
  const id = () => {
    const time = (stamp += 1).toString(16).padStart(12, '0');
    const rest = crypto.randomUUID();
    return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(15)}`;
  };

  const answered = (port, message) => new Promise((resolve, reject) => {
    const listen = (event) => {
      if (event.submissionId !== message.submissionId) return;
      port.onMessage.removeListener(listen);
      if (event.type === 'command.rejected') reject(new Error(JSON.stringify(event)));
      else resolve(event);
    };
    port.onMessage.addListener(listen);
    port.postMessage(message);
  });

  window.prepare = async (host, bare) => {
    ports.host = chrome.runtime.connectNative(host);
    ports.bare = chrome.runtime.connectNative(bare);
    await answered(ports.host, {
      type: 'initialize', submissionId: id(), protocol: 'sidekeep/1', schemaHash: '*', clientId: id(),
    });
    threadId = (await answered(ports.host, { type: 'thread.create', submissionId: id() })).threadId;
    window.db = new Dexie('yardstick', { chromeTransactionDurability: 'strict' });
    db.version(1).stores({ threads: 'id', nodes: 'id, threadId, parentId' });
    await db.threads.put({ id: threadId, updatedAt: 0, leafId: null });
  };

  window.ported = (which, count, depth) => new Promise((resolve, reject) => {
    const port = ports[which];
    let sent = 0;
    let done = 0;
    const send = () => {
      sent += 1;
      port.postMessage({ type: 'node.append', submissionId: id(), threadId, nodeType: 'user_message', payload });
    };
    const started = performance.now();
    const listen = (event) => {
      if (event.type === 'command.rejected') reject(new Error(JSON.stringify(event)));
      if (event.type !== 'command.ack') return;
      done += 1;
      if (sent < count) send();
      if (done < count) return;
      port.onMessage.removeListener(listen);
      resolve((1000 * count) / (performance.now() - started));
    };
    port.onMessage.addListener(listen);
    while (sent < Math.min(depth, count)) send();
  });

  window.dexie = async (count) => {
    const started = performance.now();
    for (let number = 0; number < count; number += 1) {
      await db.transaction('rw', db.threads, db.nodes, async () => {
        const thread = await db.threads.get(threadId);
        const node = { id: id(), threadId, parentId: thread.leafId, ts: Date.now(), type: 'user_message', payload };
        await db.nodes.put(node);
        await db.threads.update(threadId, { leafId: node.id, updatedAt: node.ts });
      });
    }
    return (1000 * count) / (performance.now() - started);
  };

  window.finish = () => {
    for (const port of Object.values(ports)) port.disconnect();
  };
})()
"""
