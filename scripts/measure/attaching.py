"""P4: attachments of 1 MiB through Chromium, stored and hashed: this host, a host that keeps nothing, and Dexie."""

import os
import subprocess
from pathlib import Path

from playwright.sync_api import sync_playwright

from lib.browser import Chromium
from lib.checkout import BUILT_EXTENSION, program
from measure.in_chromium import DEXIE, register
from measure.rounds import Figure, at_least, in_turns
from sidekeep.install.manifest import HOST_NAME
from sidekeep.wire.origins import EXTENSION_ID

SINK = "dev.sidekeep.sink"
ATTACHMENTS = 200


def p4(folder: Path, rounds: int) -> list[Figure]:
    """200 attachments in all, two at a time, four chunks of each in flight, as the panel sends them; MiB a second."""
    profile, state = folder / "profile", folder / "p4"
    profile.mkdir()
    subprocess.run(
        [program("sidekeep"), "install", "--user-data-dir", str(profile), "--state", str(state), "--yes"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    register(profile, folder, SINK, Path(__file__).with_name("sink_host.py"))
    count = ATTACHMENTS // rounds
    with sync_playwright() as playwright:
        chromium = Chromium(playwright, os.environ["SIDEKEEP_CHROMIUM"], profile, BUILT_EXTENSION)
        page = chromium.page
        page.goto(f"chrome-extension://{EXTENSION_ID}/manifest.json")
        page.evaluate(DEXIE.read_text())
        page.evaluate(_PAGE)
        page.evaluate("([host, sink]) => prepare(host, sink)", [HOST_NAME, SINK])

        def sent(which: str) -> float:
            return float(page.evaluate("([which, n]) => sent(which, n)", [which, count]))

        found = in_turns(
            {
                "ours": lambda: sent("host"),
                "sink": lambda: sent("sink"),
                "dexie": lambda: float(page.evaluate("(n) => dexie(n)", count)),
            },
            rounds,
        )
        page.evaluate("() => finish()")
        chromium.close()
    return [
        at_least("P4", "attachments of 1 MiB", "MiB/s", found["ours"], found["sink"], "a host without a store", 0.75),
        at_least("P4", "attachments of 1 MiB", "MiB/s", found["ours"], found["dexie"], "Dexie, strict", 0.6),
    ]


_PAGE = """
(() => {
  const MIB = 1 << 20;
  const ports = {};
  const waiting = new Map();
  let threadId;
  const id = () => crypto.randomUUID();

  const ask = (port, message) => new Promise((resolve, reject) => {
    const submissionId = id();
    waiting.set(submissionId, { resolve, reject });
    port.postMessage({ ...message, submissionId });
  });
  const hear = (event) => {
    const asked = waiting.get(event.submissionId);
    if (!asked) return;
    waiting.delete(event.submissionId);
    if (event.type === 'command.rejected') asked.reject(new Error(JSON.stringify(event)));
    else asked.resolve(event);
  };

  window.prepare = async (host, sink) => {
    ports.host = chrome.runtime.connectNative(host);
    ports.sink = chrome.runtime.connectNative(sink);
    for (const port of Object.values(ports)) port.onMessage.addListener(hear);
    await ask(ports.host, { type: 'initialize', protocol: 'sidekeep/1', schemaHash: '*', clientId: id() });
    threadId = (await ask(ports.host, { type: 'thread.create' })).threadId;
    window.db = new Dexie('yardstick', { chromeTransactionDurability: 'strict' });
    db.version(1).stores({ attachments: 'id' });
  };

  // Bytes that nobody has yet, made before the clock starts.
  const fresh = (count) => Array.from({ length: count }, () => {
    const bytes = new Uint8Array(MIB);
    for (let at = 0; at < MIB; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
    return bytes;
  });
  const base64 = (bytes) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(bytes);
  });
  const hex = (digest) => Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');

  const lanes = (work, list, count) => {
    const rest = [...list];
    const lane = async () => {
      for (let each = rest.shift(); each !== undefined; each = rest.shift()) await work(each);
    };
    return Promise.all(Array.from({ length: count }, lane));
  };

  const upload = async (port, bytes) => {
    const sha256 = hex(await crypto.subtle.digest('SHA-256', bytes));
    const about = { kind: 'file', mime: 'application/octet-stream', provenance: 'user', trust: 'trusted' };
    const begun = await ask(port, { type: 'attachment.begin', threadId, size: bytes.length, sha256, ...about });
    const { attachmentId, chunkBytes } = begun;
    const blob = new Blob([bytes]);
    const indices = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) => index);
    await lanes(async (index) => {
      const data = await base64(blob.slice(index * chunkBytes, (index + 1) * chunkBytes));
      await ask(port, { type: 'attachment.chunk', attachmentId, index, data });
    }, indices, 4);
    await ask(port, { type: 'attachment.commit', attachmentId });
  };

  window.sent = async (which, count) => {
    const all = fresh(count);
    const started = performance.now();
    await lanes((bytes) => upload(ports[which], bytes), all, 2);
    return (1000 * count) / (performance.now() - started);
  };

  window.dexie = async (count) => {
    const all = fresh(count);
    const started = performance.now();
    for (const bytes of all) await db.attachments.put({ id: id(), bytes });
    return (1000 * count) / (performance.now() - started);
  };

  window.finish = () => {
    for (const port of Object.values(ports)) port.disconnect();
  };
})()
"""
