// @vitest-environment jsdom
// C1: keyboard and screen reader: axe finds nothing on any view, and menus, dialogs and lists work by keys.
import axe from 'axe-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { answer, attachment, id, keptPage, meta, notice, path, recoverable, snapshot, THREAD, user } from '../support/make';
import { click, doing, every, one, PanelInPage, press, type } from '../support/panel';

let panel: PanelInPage;
beforeEach(async () => {
  panel = await PanelInPage.open();
});

/** jsdom has no layout and no colours: contrast has a test of its own. */
const OFF = { rules: { 'color-contrast': { enabled: false } } };
async function faults(): Promise<string[]> {
  document.documentElement.lang = 'en';
  document.title = 'Sidekeep';
  const { violations } = await axe.run(document, OFF);
  return violations.flatMap(({ id: rule, nodes }) => nodes.map((node) => `${rule}: ${node.html}`));
}

const approval = { approvalId: 'a', runId: 'r', turnId: 't', request: { tool: 'read_page' }, deadlineAt: 1 };
const question = { interactionId: 'i', runId: 'r', turnId: 't', request: { kind: 'ask_user', question: 'Which one?', options: ['A', 'B'] } };

const VIEWS: readonly (readonly [string, () => Promise<void>])[] = [
  ['an empty chat', () => panel.serve()],
  ['no companion', () => panel.link({ phase: 'down', code: 'not_found', detail: 'Specified native messaging host not found.', retryAt: 1 })],
  ['a refused store', () => panel.link({ phase: 'refused', host: { version: '1', pid: 1, instanceId: 'i' }, code: 'store_busy', message: 'm' })],
  [
    'a conversation with everything in it',
    async () => {
      await panel.serve([meta({ folderId: 'f', tags: ['tide'], unread: true, status: 'done' })]);
      const context = [{ kind: 'page', title: 'Page', url: 'https://a.example/', text: 'text', trust: 'untrusted', provenance: 'page' }];
      const rich = '# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\n- [x] done\n\n[link](https://x.example) and $x^2$\n\n![pic](https://x.example/a.png)';
      const nodes = [
        user(1, null, 'Q', { payload: { attachedContext: context } }),
        answer(2, 1, rich, { payload: { reasoning: 'Because.', model: 'm', connectionId: 'local', usage: { inputTokens: 3, outputTokens: 4 } } }),
        notice(3, 2, 'A gap was repaired.'),
        answer(4, 3, 'call', { type: 'tool_call', payload: { toolName: 'read_page', params: { url: 'x' } } }),
        answer(5, 4, 'result', { type: 'tool_result', payload: { ok: true } }),
        answer(6, 5, 'half', { payload: { stopReason: 'interrupted' } }),
      ];
      const siblings = { [id(1)]: { index: 0, count: 2, ids: [id(1), id(9)] } };
      const queue = [{ runId: 'q', input: { content: [{ type: 'text' as const, text: 'next' }] }, revision: 1 }];
      await panel.show(snapshot(nodes, { siblings, queue, recoverable: [recoverable({ partialText: 'Half' })] }));
    },
  ],
  [
    'an approval and a question',
    async () => {
      await panel.serve([meta()]);
      await panel.show(snapshot(path(1), { approvals: [approval], interactions: [question] }));
    },
  ],
  [
    'a run of which nobody knows whether it was done',
    async () => {
      await panel.serve([meta()]);
      await panel.show(snapshot(path(1), { recoverable: [recoverable({ state: 'paused_uncertain', tool: 'write_file' })] }));
    },
  ],
  ['the list', async () => {
    await panel.serve([meta(), meta({ id: id(2), pinned: true, status: 'running' })]);
    await click(panel, one('open-threads'));
  }],
  ['an open menu', async () => {
    await panel.serve([meta()]);
    await click(panel, one('item-menu'));
  }],
  ['the settings', async () => {
    await panel.serve();
    await doing(panel, () => panel.store.dispatch({ type: 'page.shown', page: 'settings' }));
    const key = { id: 'c', kind: 'openai', name: 'Mine', baseUrl: 'https://a.example', modelIds: ['m'], enabled: true, revision: 1, secretRefs: ['s'] };
    await panel.answer('connection.list', { connections: [{ ...key, id: 'local', kind: 'local', installed: false }, key] });
    await click(panel, one('add-connection'));
  }],
  ['folder and tags of a chat', async () => {
    await panel.serve([meta({ tags: ['a'] })]);
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'organise', threadId: THREAD } }));
  }],
  ['the branches of a chat', async () => {
    await panel.serve([meta()]);
    await panel.show(snapshot(path(2)));
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'branches', threadId: THREAD } }));
    await panel.answer('branch.list', { branches: [{ leafId: id(2), name: 'a', count: 2, ts: 1, active: true }, { leafId: id(4), count: 2, ts: 1, active: false }] });
  }],
  ['a question before something is deleted for good', async () => {
    await panel.serve([meta({ deletedAt: 1 })]);
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'purge', threadId: THREAD } }));
  }],
  ['files in a message and in a draft', async () => {
    await panel.serve([meta()]);
    await panel.show(snapshot([user(1, null, 'Q', { payload: { attachmentIds: ['one', 'two', 'three'] } })]));
    await panel.answer('attachment.list', {
      attachments: [attachment('one'), attachment('two', { mime: 'text/plain', kind: 'file' }), attachment('three', { evicted: true })], cursor: null,
    });
    await doing(panel, () => panel.files.takeUp(THREAD, [attachment('four', { kind: 'file' })]));
  }],
  ['an attachment that is open', async () => {
    await panel.serve([meta()]);
    await doing(panel, () => panel.attachments.learn(attachment('one')));
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'attachment', attachmentId: 'one' } }));
  }],
  ['a search with hits and all filters', async () => {
    await panel.serve([meta()]);
    await doing(panel, () => panel.store.dispatch({ type: 'page.shown', page: 'search' }));
    await click(panel, one('search-filters'));
    await type(panel, one('search-field'), 'tide');
    await press(panel, one('search-field'), 'Enter');
    await panel.answer('thread.search', { hits: [{ threadId: THREAD, nodeId: id(1), title: 'Sea', snippet: 'the \ue000tide\ue001', ts: 1, rank: 1 }, { pageId: 'p', title: 'Page', snippet: 'x', ts: 1, rank: 2 }], cursor: 'c' });
  }],
  ['the kept pages', async () => {
    await panel.serve();
    await doing(panel, () => panel.store.dispatch({ type: 'page.shown', page: 'pages' }));
    await panel.answer('page.list', { pages: [keptPage('p', { cut: { reason: 'long', keptBytes: 1 } })], cursor: null });
  }],
  ['a kept page that is read', async () => {
    await panel.serve();
    await doing(panel, () => panel.pages.openPage('p'));
    await panel.answer('page.get', { page: keptPage('p', { parts: ['one', 'two'] }) });
    await panel.answer('attachment.list', { attachments: [attachment('one'), attachment('two', { kind: 'page_snapshot', mime: 'multipart/related' })], cursor: null });
  }],
  ['a toast with undo', async () => {
    await panel.serve([meta()]);
    await doing(panel, () => panel.store.dispatch({ type: 'toast', toast: { id: 't', text: 'Deleted.', kind: 'info', undo: { op: 'thread.restore', threadId: THREAD } } }));
  }],
];

describe('axe finds nothing', () => {
  test.each(VIEWS)('on %s', async (_, show) => {
    await show();
    expect(await faults()).toEqual([]);
  });

  test('and would find a button without a name', async () => {
    await panel.serve();
    one('send').removeAttribute('aria-label');
    one('send').removeAttribute('title');
    expect((await faults()).map((fault) => fault.split(':')[0])).toEqual(['button-name']);
  });
});

describe('by keys', () => {
  beforeEach(() => panel.serve([meta(), meta({ id: id(2), title: 'Second' })]));

  test('a menu opens on its first entry, arrows go round, Esc returns to the button', async () => {
    const button = one('item-menu');
    await click(panel, button);
    const entries = [...document.querySelectorAll<HTMLElement>('[role=menuitem]')];
    expect(document.activeElement).toBe(entries[0]);
    await press(panel, entries[0] as HTMLElement, 'ArrowUp');
    expect(document.activeElement).toBe(entries.at(-1));
    await press(panel, entries.at(-1) as HTMLElement, 'ArrowDown');
    expect(document.activeElement).toBe(entries[0]);
    await press(panel, entries[0] as HTMLElement, 'End');
    expect(document.activeElement).toBe(entries.at(-1));
    await press(panel, entries.at(-1) as HTMLElement, 'Escape');
    expect([document.activeElement, document.querySelectorAll('[role=menu]').length]).toEqual([button, 0]);
    expect(button.getAttribute('aria-expanded')).toBe('false');
  });

  test('Tab leaves the menu, a click elsewhere closes it', async () => {
    await click(panel, one('item-menu'));
    await press(panel, document.activeElement as HTMLElement, 'Tab');
    expect(document.querySelectorAll('[role=menu]')).toHaveLength(0);
    await click(panel, one('item-menu'));
    await doing(panel, () => void document.body.dispatchEvent(new Event('pointerdown', { bubbles: true })));
    expect(document.querySelectorAll('[role=menu]')).toHaveLength(0);
  });

  test('Esc closes the list in the narrow panel; what lies under it cannot be reached meanwhile', async () => {
    await click(panel, one('open-threads'));
    expect([one('thread-list').hasAttribute('inert'), document.querySelector('main')?.hasAttribute('inert')]).toEqual([false, true]);
    await press(panel, one('thread-list'), 'Escape');
    expect([one('thread-list').hasAttribute('inert'), document.querySelector('main')?.hasAttribute('inert')]).toEqual([true, false]);
  });

  test('a dialog takes the focus and gives it back', async () => {
    one('composer').focus();
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'organise', threadId: THREAD } }));
    expect(one('dialog').contains(document.activeElement)).toBe(true);
    await doing(panel, () => void one('dialog').dispatchEvent(new Event('close')));
    expect([every('dialog'), document.activeElement]).toEqual([[], one('composer')]);
  });

  test('Esc while renaming leaves the title as it was', async () => {
    await click(panel, document.querySelector('[data-testid=thread-item] [data-testid=item-menu]') as HTMLElement);
    await click(panel, document.querySelector('[role=menuitem]') as HTMLElement);
    one<HTMLInputElement>('rename').value = 'Other';
    await press(panel, one('rename'), 'Escape');
    expect([every('rename'), panel.all('thread.update')]).toEqual([[], []]);
  });

  test('ArrowUp in the empty field takes up the last question', async () => {
    await panel.show(snapshot(path(2)));
    await press(panel, one('composer'), 'ArrowUp');
    expect(one<HTMLTextAreaElement>('composer').value).toBe('Q1');
  });

  test('an answer is read out once it is whole, not piece by piece', async () => {
    await panel.show(snapshot(path(1)));
    const spoken = (): string | null | undefined => document.querySelector('[aria-live=polite].sr-only')?.textContent;
    await panel.hear({ type: 'turn.start', threadId: THREAD, turnId: 't', runId: 'r', turnKind: 'turn', steerable: false });
    expect(spoken()).toBe('Answering');
    await panel.hear({ type: 'item.start', threadId: THREAD, turnId: 't', itemId: 'i', kind: 'assistant_message', meta: {} });
    await panel.hear({ type: 'item.delta', threadId: THREAD, turnId: 't', itemId: 'i', seq: 1, delta: { text: 'The tide turns.' } });
    expect(spoken()).toBe('Answering');
    await panel.hear({ type: 'thread.node', threadId: THREAD, node: answer(2, 1, 'The tide turns.') });
    await panel.hear({ type: 'turn.complete', threadId: THREAD, turnId: 't', stopReason: 'end' });
    expect(spoken()).toBe('Answer: The tide turns.');
  });
});
