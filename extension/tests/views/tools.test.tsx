// @vitest-environment jsdom
// What tools ask of the panel: pages, pictures of them, tabs; and what the person is asked.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { id, meta, snapshot, THREAD } from '../support/make';
import { click, doing, every, one, PanelInPage, type } from '../support/panel';

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
  await panel.serve([meta()]);
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
