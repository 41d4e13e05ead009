// A whole panel in jsdom: real state, real effects, real outbox; the worker's end of its port in hand.
import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { vi } from 'vitest';
import type { FromWorker, LinkStatus } from '../../src/channel';
import type { ThreadMeta, ThreadSnapshot, WireMessage } from '../../src/protocol';
import { install, ports } from './browser';
import { meta, ready, snapshot } from './make';
import type { FarPort } from './port';

export const ALL = [
  'thread.create', 'thread.update', 'thread.delete', 'thread.restore', 'thread.fork', 'thread.selectBranch', 'thread.list', 'thread.page',
  'thread.subscribe', 'thread.unsubscribe', 'branch.list', 'branch.delete', 'node.delete', 'node.restore', 'turn.submit', 'turn.fork',
  'turn.interrupt', 'queue.remove', 'run.resume', 'run.resolveUncertain', 'folder.list', 'folder.save', 'folder.delete', 'settings.get',
  'settings.set', 'connection.list', 'connection.save', 'connection.delete', 'connection.verify', 'secret.set', 'storage.status',
  'approval.response', 'interaction.response', 'attachment.begin', 'attachment.list', 'attachment.pin', 'attachment.delete', 'thread.search',
  'page.list', 'page.get', 'page.delete',
] as const;

export type Sent = Record<string, unknown> & { type: string; submissionId: string };

export class PanelInPage {
  readonly port: FarPort;
  private constructor(
    readonly store: typeof import('../../src/panel/store'),
    readonly session: typeof import('../../src/panel/effects/session'),
    readonly files: typeof import('../../src/panel/effects/files'),
    readonly attachments: typeof import('../../src/panel/effects/attachments'),
    readonly pages: typeof import('../../src/panel/effects/pages'),
  ) {
    this.port = ports.at(-1) as FarPort;
  }

  /** As `main.tsx` does it, on an empty browser or on what an earlier panel left (`again`). */
  static async open(again = false): Promise<PanelInPage> {
    if (!again) {
      install();
      globalThis.indexedDB = new IDBFactory();
    }
    document.body.innerHTML = '<div id="app"></div>';
    vi.resetModules();
    const [store, session, live, drafts, actions, files, attachments, pages, { App }] = await Promise.all([
      import('../../src/panel/store'),
      import('../../src/panel/effects/session'),
      import('../../src/panel/effects/live'),
      import('../../src/panel/effects/drafts'),
      import('../../src/panel/effects/actions'),
      import('../../src/panel/effects/files'),
      import('../../src/panel/effects/attachments'),
      import('../../src/panel/effects/pages'),
      import('../../src/panel/views/App'),
    ]);
    await (await import('../../src/panel/views/later')).loadLater();
    session.connect(true);
    await drafts.remember(null);
    session.listen(live.heard);
    live.keepInStep();
    drafts.keepDrafts();
    drafts.keepPlace();
    actions.sendWhenThere();
    await act(() => render(<App />, document.getElementById('app') as HTMLElement));
    const panel = new PanelInPage(store, session, files, attachments, pages);
    await panel.say({ kind: 'welcome', clientId: 'profile', storeId: null });
    return panel;
  }

  async say(message: FromWorker): Promise<void> {
    await act(async () => {
      this.port.say(message);
      await this.settled();
    });
  }

  link(status: LinkStatus): Promise<void> {
    return this.say({ kind: 'link', status });
  }

  hear(event: WireMessage | object): Promise<void> {
    return this.say({ kind: 'event', event: event as WireMessage });
  }

  /** What the panel last sent of this type, if nobody has answered it yet. */
  sent(type: string): Sent | undefined {
    return (this.port.posted.map((message) => message['op']) as (Sent | undefined)[]).findLast((op) => op?.type === type);
  }

  all(type: string): Sent[] {
    return (this.port.posted.map((message) => message['op']) as (Sent | undefined)[]).filter((op) => op?.type === type) as Sent[];
  }

  async answer(type: string, data: object): Promise<void> {
    await this.hear({ type: 'result', submissionId: this.sent(type)?.submissionId, data });
  }

  async ack(type: string, members: object = {}): Promise<void> {
    await this.hear({ type: 'command.ack', submissionId: this.sent(type)?.submissionId, ...members });
  }

  /** A host is there with these threads in its list. */
  async serve(threads: readonly ThreadMeta[] = [], capabilities: readonly string[] = ALL): Promise<void> {
    await this.link(ready('store-1', capabilities));
    await this.answer('thread.list', { threads, cursor: null });
    await this.answer('folder.list', { folders: [] });
    await this.answer('settings.get', { settings: {} });
    await this.answer('connection.list', { connections: [] });
  }

  /** Opens a thread from the list and shows it. */
  async show(shown: ThreadSnapshot = snapshot([])): Promise<void> {
    await act(async () => {
      this.store.dispatch({ type: 'thread.opened', threadId: shown.thread.id, fresh: false });
      await this.settled();
    });
    await this.answer('thread.subscribe', shown);
  }

  /** Promises that wait for the outbox come after its transactions, which keep their order. */
  async settled(): Promise<void> {
    const { outbox } = await import('../../src/outbox/outbox');
    for (let round = 0; round < 4; round += 1) await outbox.all();
  }
}

export const one = <T extends HTMLElement = HTMLElement>(testId: string): T => {
  const found = document.querySelector<T>(`[data-testid="${testId}"]`);
  if (!found) throw new Error(`There is no ${testId} in:\n${document.body.innerHTML}`);
  return found;
};
export const every = (testId: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(`[data-testid="${testId}"]`)];

export async function doing(panel: PanelInPage, deed: () => void): Promise<void> {
  await act(async () => {
    deed();
    await panel.settled();
  });
}

export const click = (panel: PanelInPage, element: HTMLElement): Promise<void> => doing(panel, () => element.click());

export function type(panel: PanelInPage, field: HTMLElement, text: string): Promise<void> {
  return doing(panel, () => {
    (field as HTMLInputElement).value = text;
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  });
}

export function press(panel: PanelInPage, element: HTMLElement, key: string, more: KeyboardEventInit = {}): Promise<void> {
  return doing(panel, () => void element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })));
}

export { meta };
