// @vitest-environment jsdom
// What tools ask of the panel: pages, pictures of them, tabs; and what the person is asked.
import axe from 'axe-core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { id, meta, snapshot, THREAD } from '../support/make';
import { ALL, click, doing, every, one, PanelInPage, press, type } from '../support/panel';

vi.setConfig({ testTimeout: 20_000, hookTimeout: 30_000 });

const NO_ACCESS = new Error('Cannot access contents of the page. Extension manifest must request permission to access the respective host.');
let panel: PanelInPage;
let browsing: typeof import('../../src/panel/effects/browsing');
let url: string;
let mayRead: boolean;
let passed: unknown[];
let asked: chrome.permissions.Permissions[];

beforeEach(async () => {
  panel = await PanelInPage.open();
  url = 'https://www.tides.example/today';
  mayRead = true;
  passed = [];
  asked = [];
  const tab = (): object => ({ id: 7, windowId: 1, active: true, title: 'Tides', url, lastAccessed: 2 });
  Object.assign(chrome, {
    permissions: {
      contains: async () => false,
      request: async (wanted: chrome.permissions.Permissions) => {
        asked.push(wanted);
        mayRead = true;
        return true;
      },
    },
    scripting: {
      executeScript: async ({ files, args }: { files?: string[]; args?: unknown[] }) => {
        if (!mayRead) throw NO_ACCESS;
        if (files) return [];
        passed = args ?? [];
        const page = { url, title: 'Tides', text: 'High at noon.', kind: 'whole', contentType: 'text/html', drawn: false, closedFrames: [], readByParent: false, area: 100 };
        return [{ result: args?.[0] === 'selectedText' ? 'noon' : page }];
      },
    },
    tabs: {
      getCurrent: async () => undefined,
      get: async () => tab(),
      query: async () => [tab(), { id: 8, windowId: 1, active: false, title: 'Bank', url: 'https://my.bank.example/', lastAccessed: 1 }],
    },
  });
  await panel.serve([meta()], [...ALL, 'turn.steer']);
  browsing = await import('../../src/panel/effects/browsing');
});

/** The answer to a request, while questions about blocked sites are answered. */
async function told(tool: string, params: object, blocked: readonly string[] = ['bank.example']): Promise<Record<string, unknown>> {
  void browsing.browse({ type: 'browser.request', requestId: id(50), threadId: THREAD, turnId: id(51), tool, params });
  const answered = new Set<string>();
  await vi.waitFor(async () => {
    for (const { submissionId, ...op } of panel.all('settings.get')) {
      if (!('keys' in op) || answered.has(submissionId)) continue;
      answered.add(submissionId);
      await panel.hear({ type: 'result', submissionId, data: { settings: { 'capture.blocked_sites': blocked } } });
    }
    expect(panel.sent('browser.response') ?? every('tool-access')[0]).toBeDefined();
  }, { timeout: 15_000, interval: 10 });
  return panel.sent('browser.response') ?? {};
}

const HERE = { tabId: 7, site: 'tides.example' };

describe('browser.request', () => {
  test.each([
    ['article', ['readPage', [1_000_000, false]], 'High at noon.'],
    ['snapshot', ['readPage', [1_000_000, true]], 'High at noon.'],
    ['selection', ['selectedText', []], 'noon'],
  ])('reads a page as %s', async (mode, call, text) => {
    expect(await told('read_page', { ...HERE, mode })).toMatchObject({ requestId: id(50), ok: true, result: { url, title: 'Tides', text } });
    expect(passed).toEqual(call);
  });

  test('lists the tabs but those of sites that are never captured', async () => {
    const tabs = [{ tabId: 7, title: 'Tides', url, active: true }];
    expect(await told('list_tabs', {})).toMatchObject({ ok: true, result: { tabs } });
  });

  test('does not look at a site that is never captured', async () => {
    expect(await told('read_page', { ...HERE, mode: 'article' }, ['tides.example'])).toMatchObject({ ok: false, error: { code: 'blocked' } });
    expect(passed).toEqual([]);
  });

  test('does not look at another site than was allowed', async () => {
    url = 'https://other.example/';
    expect(await told('read_page', { ...HERE, mode: 'article' })).toMatchObject({ ok: false, error: { code: 'moved' } });
    expect(passed).toEqual([]);
  });

  test('asks for permission at the click, and reads then', async () => {
    mayRead = false;
    await told('read_page', { ...HERE, mode: 'article' });
    expect(one('tool-access').textContent).toContain('tides.example');
    await click(panel, one('allow-tool-access'));
    expect(asked).toEqual([{ origins: ['*://tides.example/*', '*://www.tides.example/*'] }]);
    expect(await told('read_page', { ...HERE, mode: 'article' })).toMatchObject({ ok: true });
    expect(every('tool-access')).toEqual([]);
  });

  test('says that permission is needed once the person has put the card away', async () => {
    mayRead = false;
    await told('read_page', { ...HERE, mode: 'article' });
    await doing(panel, () => browsing.browserAccess.peek()[0]?.settle(false));
    await vi.waitFor(() => expect(panel.sent('browser.response')).toMatchObject({ ok: false, error: { code: 'needs_permission' } }));
  });

  test('an end of the turn takes the card away', async () => {
    mayRead = false;
    await told('read_page', { ...HERE, mode: 'article' });
    await panel.hear({ type: 'turn.complete', threadId: THREAD, turnId: id(51), runId: id(52), stopReason: 'interrupted' });
    expect(every('tool-access')).toEqual([]);
  });
});

describe('what is asked', () => {
  const request = { kind: 'tool', tool: 'read_page', title: 'Read the text of this page', params: '{"tabId":7}', reason: 'policy', origin: 'https://www.news.example', url: 'https://www.news.example/a' };
  const approval = { approvalId: id(60), runId: id(61), turnId: id(62), request, deadlineAt: Date.now() + 90_500 };

  beforeEach(() => panel.show(snapshot([], { approvals: [approval] })));

  test('tells the tool, the address, why, and how long', () => {
    const text = one('approval').textContent;
    for (const part of ['Read the text of this page', 'https://www.news.example/a', 'Your settings ask before this.']) expect(text).toContain(part);
    expect(one('approval').querySelector('[role=timer]')?.textContent).toMatch(/^[01]:\d\d left$/);
  });

  test('counts down in minutes and seconds, and in hours', async () => {
    const { clock } = await import('../../src/panel/views/Countdown');
    expect([-5, 500, 90_500, 3_661_000].map(clock)).toEqual(['0:00', '0:01', '1:31', '1:01:01']);
  });

  test.each([
    ['allow-once', { kind: 'accept' }],
    ['allow-session', { kind: 'acceptForSession' }],
    ['allow-site', { kind: 'acceptForSite' }],
    ['cancel-turn', { kind: 'cancel' }],
  ])('%s', async (button, decision) => {
    await click(panel, one(button));
    expect(panel.sent('approval.response')).toMatchObject({ approvalId: id(60), decision });
  });

  test('declines with a word for the model; another window’s decision takes the card away', async () => {
    await type(panel, one('decline-note'), ' Not this one. ');
    await click(panel, one('decline'));
    expect(panel.sent('approval.response')).toMatchObject({ decision: { kind: 'decline', note: 'Not this one.' } });
    await panel.hear({ type: 'approval.resolved', threadId: THREAD, approvalId: id(60), decision: { kind: 'accept' }, by: 'user' });
    expect(every('approval')).toEqual([]);
  });
});

describe('interactions', () => {
  const show = (request: object): Promise<void> =>
    panel.show(snapshot([], { interactions: [{ interactionId: id(70), runId: id(61), turnId: id(62), request }] }));
  const button = (text: string): HTMLElement => [...one('interaction').querySelectorAll('button')].find((each) => each.textContent === text) as HTMLElement;

  test('an option answers a question', async () => {
    await show({ kind: 'ask_user', question: 'Which?', options: ['Red', 'Blue'] });
    await click(panel, button('Blue'));
    expect(panel.sent('interaction.response')).toMatchObject({ interactionId: id(70), response: { answer: 'Blue' } });
  });

  test('so do words of one’s own', async () => {
    await show({ kind: 'ask_user', question: 'Which?' });
    await type(panel, one('interaction').querySelector('input') as HTMLElement, 'Green');
    await click(panel, button('Answer'));
    expect(panel.sent('interaction.response')).toMatchObject({ response: { answer: 'Green' } });
  });

  test('a deed is done, or not', async () => {
    await show({ kind: 'hand_over', task: 'Sign in.' });
    expect(one('interaction').textContent).toContain('Sign in.');
    await click(panel, button('I will not'));
    expect(panel.sent('interaction.response')).toMatchObject({ response: { done: false } });
  });

  test('a wait can be ended early', async () => {
    await show({ kind: 'wait_until', until: Date.now() + 60_000, reason: 'The tide turns.' });
    await click(panel, button('Go on now'));
    expect(panel.sent('interaction.response')).toMatchObject({ response: { continue: true } });
  });
});

describe('an answer that grows', () => {
  const TURN = { threadId: THREAD, turnId: id(81), runId: id(82) };
  const begin = async (steerable: boolean): Promise<void> => {
    await panel.show(snapshot([]));
    await panel.hear({ type: 'turn.start', ...TURN, turnKind: 'turn', steerable });
    await panel.hear({ type: 'item.start', ...TURN, itemId: id(83), kind: 'assistant_message', meta: {} });
  };

  test('takes more words where it says so', async () => {
    await begin(true);
    await type(panel, one('composer'), 'In one word.');
    await click(panel, one('steer'));
    const input = { content: [{ type: 'text', text: 'In one word.' }] };
    expect(panel.sent('turn.steer')).toMatchObject({ threadId: THREAD, expectedTurnId: id(81), input });
    expect(one<HTMLTextAreaElement>('composer').value).toBe('');
  });

  test('a refused addition can go as a message of its own', async () => {
    await begin(true);
    await type(panel, one('composer'), 'In one word.');
    await press(panel, one('composer'), 'Enter', { ctrlKey: true });
    const { submissionId } = panel.sent('turn.steer') ?? {};
    const { outbox } = await import('../../src/outbox/outbox');
    await outbox.refuse(String(submissionId), { code: 'turn_mismatch', message: '' });
    await panel.hear({ type: 'command.rejected', submissionId, code: 'turn_mismatch', message: '', retryable: false });
    await panel.say({ kind: 'outbox' });
    const again = [...document.querySelectorAll<HTMLElement>('.unsent button')].find((each) => each.textContent === 'Send again');
    expect(document.querySelector('.unsent')?.textContent).toContain('That answer is over');
    await click(panel, again as HTMLElement);
    expect(panel.sent('turn.submit')).toMatchObject({ threadId: THREAD, input: { content: [{ type: 'text', text: 'In one word.' }] } });
  });

  test('takes none where it does not', async () => {
    await begin(false);
    await type(panel, one('composer'), 'In one word.');
    expect(every('steer')).toEqual([]);
    await press(panel, one('composer'), 'Enter', { ctrlKey: true });
    expect(panel.sent('turn.submit')).toBeDefined();
  });

  test('says that the endpoint is asked again, until it speaks', async () => {
    await begin(true);
    const delta = { type: 'item.delta', ...TURN, itemId: id(83) };
    await panel.hear({ ...delta, seq: 0, delta: { toolProgress: { note: 'retrying', done: 2, total: 5 } } });
    await vi.waitFor(() => expect(one('thinking').textContent).toContain('Trying again, 2 of 5'));
    await panel.hear({ ...delta, seq: 1, delta: { text: 'High.' } });
    await vi.waitFor(() => expect(every('thinking')).toEqual([]));
  });
});

describe('what was done', () => {
  const node = (number: number, kind: string, payload: object): object => ({
    id: id(number), parentId: number === 91 ? null : id(number - 1), type: kind, ts: 1, payload,
  });

  test('a call in short, its result folded, the decision in words', async () => {
    const nodes = [
      node(91, 'tool_call', { itemId: id(91), toolName: 'search_history', params: '{"query":"tides\\nat noon","limit":3}', level: 'L0' }),
      node(92, 'approval_decision', { approvalId: id(60), request: { tool: 'search_history', title: 'Search' }, decision: { kind: 'decline', note: 'No.' }, ts: 1 }),
      node(93, 'tool_result', { itemId: id(91), toolName: 'search_history', ok: false, contentForLlm: [{ type: 'text', text: 'Declined.' }] }),
    ];
    await panel.show(snapshot(nodes as never));
    const [call, result] = every('tool-card') as HTMLDetailsElement[];
    expect(call?.querySelector('summary')?.textContent).toContain('tides at noon, 3');
    expect([call?.open, result?.open, result?.dataset['state']]).toEqual([false, false, 'failed']);
    expect(result?.textContent).toContain('Declined.');
    expect(document.body.textContent).toContain('You declined “Search”. No.');
  });
});

describe('a paused run', () => {
  const paused = (state: 'paused_budget' | 'paused_uncertain', more: object = {}): ReturnType<typeof snapshot> => {
    const run = { runId: id(82), turnId: id(81), state };
    return snapshot([], { activeTurn: { ...run, items: [] }, recoverable: [{ ...run, reason: 'paused', ...more }] });
  };
  const button = (text: string): HTMLElement => [...one('recovery-card').querySelectorAll('button')].find((each) => each.textContent === text) as HTMLElement;

  test('goes on after its budget, when the person says so', async () => {
    await panel.show(snapshot([]));
    await panel.hear({ type: 'turn.start', threadId: THREAD, turnId: id(81), runId: id(82), turnKind: 'turn', steerable: true });
    await panel.hear({ type: 'turn.complete', threadId: THREAD, turnId: id(81), stopReason: 'budget_pause' });
    await panel.answer('thread.subscribe', paused('paused_budget'));
    expect(one('recovery-card').textContent).toContain('reached its budget');
    expect(every('stop')).toEqual([]);
    await click(panel, one('resume'));
    expect(panel.sent('run.resume')).toMatchObject({ threadId: THREAD, runId: id(82) });
  });

  test.each([['Do it again', 'retry'], ['It was done', 'mark_done'], ['It failed', 'fail']])('%s: %s', async (text, resolution) => {
    await panel.show(paused('paused_uncertain', { tool: 'send_mail' }));
    expect(one('recovery-card').textContent).toContain('send_mail');
    await click(panel, button(text));
    expect(panel.sent('run.resolveUncertain')).toMatchObject({ threadId: THREAD, runId: id(82), resolution });
  });
});

test('cards that ask have names and labels for everybody', async () => {
  const request = { kind: 'tool', tool: 'read_page', title: 'Read the text of this page', params: '{"tabId":7}', reason: 'policy', origin: 'https://news.example' };
  const asked = [{ kind: 'ask_user', question: 'Which?', options: ['Red'] }, { kind: 'hand_over', task: 'Sign in.' }, { kind: 'wait_until', until: 1, reason: 'Tide.' }];
  const run = { runId: id(61), turnId: id(62) };
  const interactions = asked.map((each, at) => ({ ...run, interactionId: id(70 + at), request: each }));
  await panel.show(snapshot([], { approvals: [{ ...run, approvalId: id(60), request, deadlineAt: Date.now() + 60_000 }], interactions }));
  expect([every('approval').length, every('interaction').length]).toEqual([1, 3]);
  const { violations } = await axe.run(document.body, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } });
  expect(violations.map((each) => each.id)).toEqual([]);
});
