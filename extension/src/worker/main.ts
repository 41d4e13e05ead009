// The service worker: registers its listeners at once and ties link, relay and outbox together.
import { type LinkStatus, PANEL_PORT, type ToWorker } from '../channel';
import { newId } from '../ids';
import { standing } from '../outbox/entry';
import { outbox } from '../outbox/outbox';
import { HOST_NAME } from '../protocol';
import { registerEntrances } from './entrances';
import { Link } from './link';
import { type Panel, Relay } from './relay';
import { remembered } from './remembered';

const LINGER = 20_000;

const after = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
};

const link: Link = new Link({
  connect: () => chrome.runtime.connectNative(HOST_NAME),
  lastError: () => chrome.runtime.lastError?.message ?? '',
  now: Date.now,
  after,
  attempts: remembered.attempts,
  clientId: () => remembered.clientId,
  onStatus: (status: LinkStatus) => {
    if (status.phase === 'ready') remembered.storeIs(status.storeId);
    relay.changed(status);
  },
  onEvent: (event) => relay.received(event),
  onMismatch: (host) => void remembered.reloadOnceFor(`${host.version} ${chrome.runtime.getManifest().version}`),
});
const relay = new Relay(link, outbox, { now: Date.now, after });

let cancelGoodbye: (() => void) | null = null;

/** Nobody looks: the host is let go after a while, so that no process stays for nothing. */
function maybeGoodbye(): void {
  cancelGoodbye?.();
  cancelGoodbye = null;
  if (relay.panels.size > 0) return;
  cancelGoodbye = after(LINGER, () => {
    if (relay.isBusy) maybeGoodbye();
    else if (relay.panels.size === 0) link.close();
  });
}

chrome.runtime.onConnect.addListener((port) => {
  if (port.name !== PANEL_PORT || port.sender?.id !== chrome.runtime.id) return;
  const panel: Panel = {
    clientId: newId(),
    post: (message) => {
      try {
        port.postMessage(message);
      } catch {
        // The panel closed between two events; its disconnect follows.
      }
    },
  };
  port.onMessage.addListener((message: ToWorker) => {
    void remembered.loaded.then(() => {
      if (message.kind === 'hello') {
        panel.clientId = message.clientId;
        panel.post({ kind: 'welcome', clientId: remembered.clientId, storeId: remembered.storeId });
        relay.joined(panel);
        maybeGoodbye();
        link.open(message.fresh);
      } else if (message.kind === 'retry') {
        link.open(true);
      } else {
        relay.take(panel, message);
      }
    });
  });
  port.onDisconnect.addListener(() => {
    relay.gone(panel);
    maybeGoodbye();
  });
});

registerEntrances();

// A worker that starts (with the browser, after a crash) sends what was left unanswered, panel or not.
void remembered.loaded
  .then(() => outbox.all())
  .then((entries) => {
    if (entries.some((entry) => standing(entry, remembered.storeId, Date.now()) === 'waiting')) {
      link.open(false);
      maybeGoodbye();
    }
  });
