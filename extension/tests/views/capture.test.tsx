// @vitest-environment jsdom
// C4 in the panel: asking for access in the moment of a click, tabs by `@`, what is refused, and the choice of what to keep.
import axe from 'axe-core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ALL, click, doing, every, one, PanelInPage, press, type } from '../support/panel';

/** Each asks many times whether a site is blocked, and a busy machine takes its time for each. */
vi.setConfig({ testTimeout: 20_000, hookTimeout: 30_000 });

const CAPABLE = [...ALL, 'attachment.begin', 'page.capture'];
const TABS = [
  { id: 1, windowId: 1, active: true, title: 'Tide tables', url: 'https://tides.example/', lastAccessed: 2 },
  { id: 2, windowId: 1, active: false, title: 'News', url: 'https://news.example/', lastAccessed: 1 },
];
let panel: PanelInPage;
let attaching: typeof import('../../src/panel/effects/attaching');
let asked: chrome.permissions.Permissions[];
let answer: boolean | Error;
let tabs: object[];
let read: (tabId: number) => object;

/** The browser's part of capturing: its tabs, its question about permissions, what a page's script gives. */
beforeEach(async () => {
  panel = await PanelInPage.open();
  asked = [];
  answer = true;
  tabs = TABS;
  read = (tabId) => page(TABS.find(({ id }) => id === tabId)?.url ?? '');
  Object.assign(chrome, {
    // Not there without its permission.
    pageCapture: undefined,
    permissions: {
      contains: async () => false,
      request: async (wanted: chrome.permissions.Permissions) => {
        asked.push(wanted);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    scripting: {
      executeScript: async ({ target, files }: { target: { tabId: number }; files?: string[] }) => (files ? [] : [{ result: read(target.tabId) }]),
    },
    tabs: {
      getCurrent: async () => undefined,
      get: async (id: number) => TABS.find((tab) => tab.id === id),
      query: async (of: { active?: boolean }) => (of.active ? tabs.slice(0, 1) : tabs),
    },
  });
  await panel.serve([], CAPABLE);
  [attaching] = await Promise.all([import('../../src/panel/effects/attaching'), import('../../src/panel/capture/keep')]);
});

const page = (url: string, more: object = {}): object => ({
  url, title: 'Page', text: 'Words.', kind: 'whole', contentType: 'text/html', drawn: false, closedFrames: [], readByParent: false, area: 100, ...more,
});
const NO_ACCESS = new Error('Cannot access contents of the page. Extension manifest must request permission to access the respective host.');

/** Answers what is asked about sites that are never captured, as often as it is asked. */
async function blocking(sites: readonly string[], done: () => boolean): Promise<void> {
  const answered = new Set<string>();
  await vi.waitFor(async () => {
    for (const { submissionId, ...op } of panel.all('settings.get')) {
      if (!('keys' in op) || answered.has(submissionId)) continue;
      answered.add(submissionId);
      await panel.hear({ type: 'result', submissionId, data: { settings: { 'capture.blocked_sites': sites } } });
    }
    expect(done()).toBe(true);
  }, { timeout: 15_000, interval: 10 });
}
const words = (testId: string): string => every(testId).map(({ textContent }) => textContent).join('\n');

async function faults(): Promise<string[]> {
  const { violations } = await axe.run(document.body, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

describe('access to a page', () => {
  test('is asked for in the click that attaches it, for that site alone', async () => {
    let allowed = false;
    read = (tabId) => {
      if (!allowed) {
        allowed = true;
        throw NO_ACCESS;
      }
      return page(TABS[tabId - 1]?.url ?? '');
    };
    await click(panel, one('attach-page'));
    await blocking([], () => every('context-chip').length === 1);
    expect(asked).toEqual([{ origins: ['https://tides.example/*'] }]);
  });

  test('that is refused is said, and nothing is attached', async () => {
    answer = false;
    read = () => {
      throw NO_ACCESS;
    };
    await click(panel, one('attach-page'));
    await blocking([], () => words('toast') !== '');
    expect(words('toast')).toContain('may not read this page');
    expect(every('context-chip')).toEqual([]);
  });

  test('waits for a click where there was none', async () => {
    answer = new Error('This function must be called during a user gesture');
    let allowed = false;
    read = () => {
      if (!allowed) throw NO_ACCESS;
      return page('https://news.example/');
    };
    void attaching.attachHere(2);
    await blocking([], () => every('access-wanted').length === 1);
    expect(words('access-wanted')).toContain('news.example');
    expect(await faults()).toEqual([]);
    answer = allowed = true;
    await click(panel, one('allow-access'));
    await blocking([], () => every('context-chip').length === 1);
    expect([asked.at(-1), every('access-wanted')]).toEqual([{ origins: ['https://news.example/*'] }, []]);
  });
});

describe('what is not captured', () => {
  test.each([
    [['tides.example'], {}, 'tides.example is on your list'],
    [[], { drawn: true }, 'draws its text as a picture'],
    [[], { text: ' ' }, 'no text that can be read'],
    [['elsewhere.example'], { url: 'https://elsewhere.example/' }, 'elsewhere.example is on your list'],
  ])('with %j blocked, a page that is %j: “%s”', async (sites, more, said) => {
    read = () => page('https://tides.example/', more);
    await click(panel, one('attach-page'));
    await blocking(sites, () => words('toast') !== '');
    expect(words('toast')).toContain(said);
    expect(every('context-chip')).toEqual([]);
  });

  test('the last known list holds while no companion answers', async () => {
    await chrome.storage.local.set({ blockedSites: ['tides.example'] });
    await panel.link({ phase: 'down', code: 'exited', detail: '', retryAt: null });
    await click(panel, one('attach-page'));
    await vi.waitFor(() => expect(words('toast')).toContain('tides.example is on your list'), { timeout: 5_000 });
  });
});

describe('tabs by @', () => {
  const composer = (): HTMLTextAreaElement => one<HTMLTextAreaElement>('composer');

  test('are offered as they are typed, chosen by keys, and leave the field', async () => {
    composer().focus();
    await type(panel, composer(), 'see @ne');
    await vi.waitFor(() => expect(every('tab-option')).toHaveLength(1));
    expect(one('tab-option').textContent).toContain('News');
    expect(composer().getAttribute('aria-activedescendant')).toBe(one('tab-option').id);
    expect(await faults()).toEqual([]);
    await press(panel, composer(), 'Enter');
    await blocking([], () => every('context-chip').length === 1);
    expect([composer().value, every('tab-picker'), panel.all('turn.submit')]).toEqual(['see ', [], []]);
  });

  test('Esc closes the list and keeps the words', async () => {
    composer().focus();
    await type(panel, composer(), '@');
    await vi.waitFor(() => expect(every('tab-option')).toHaveLength(2));
    await press(panel, composer(), 'ArrowDown');
    expect(one('tab-picker').querySelectorAll('[aria-selected=true]')[0]?.textContent).toContain('News');
    await press(panel, composer(), 'Escape');
    expect([every('tab-picker'), composer().value]).toEqual([[], '@']);
  });

  test('whose names the browser hides are asked for', async () => {
    tabs = [TABS[0] as object, { id: 2, windowId: 1, active: false }];
    composer().focus();
    await type(panel, composer(), '@');
    await vi.waitFor(() => expect(every('tab-option')).toHaveLength(2));
    tabs = TABS;
    await click(panel, every('tab-option')[1] as HTMLElement);
    await vi.waitFor(() => expect(words('tab-option')).toContain('News'));
    expect(asked).toEqual([{ origins: ['<all_urls>'] }]);
  });
});

describe('keeping a page', () => {
  test('asks for the permission of a full copy first of all, then sends text and record', async () => {
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'keep', tabId: null } }));
    expect(await faults()).toEqual([]);
    expect((one('keep-copy') as HTMLInputElement).checked).toBe(true);
    answer = false;
    await click(panel, one('confirm'));
    await blocking([], () => panel.all('page.capture').length === 1);
    expect(asked).toEqual([{ permissions: ['pageCapture'] }]);
    expect(panel.sent('page.capture')).toMatchObject({
      url: 'https://tides.example/', title: 'Page', text: 'Words.', parts: [],
      cut: { reason: 'the browser could not save a full copy', keptBytes: 6 },
    });
    await panel.ack('page.capture', { pageId: 'p', digest: 'd' });
    await vi.waitFor(() => expect(words('toast')).toBe('“Page” is kept, but not all of it: the browser could not save a full copy.'));
  });

  test('sends the full copy as a part of it, and a stop on the way leaves nothing', async () => {
    // jsdom's blobs do not give their bytes.
    Blob.prototype.arrayBuffer = function arrayBuffer(this: Blob) {
      return new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(Buffer.from(reader.result as ArrayBuffer) as unknown as ArrayBuffer);
        reader.readAsArrayBuffer(this);
      });
    };
    Object.assign(chrome, { pageCapture: { saveAsMHTML: async () => new Blob(['From: <Saved by Blink>']) } });
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'keep', tabId: null } }));
    await click(panel, one('confirm'));
    await blocking([], () => panel.all('attachment.begin').length === 1);
    expect(panel.sent('attachment.begin')).toMatchObject({
      kind: 'page_snapshot', mime: 'multipart/related', size: 22, provenance: 'page', trust: 'untrusted', meta: { url: 'https://tides.example/', title: 'Page' },
    });
    await panel.ack('attachment.begin', { attachmentId: 'a', chunkBytes: 1_000, have: false });
    await vi.waitFor(() => expect(panel.all('attachment.chunk')).toHaveLength(1), { timeout: 5_000 });
    expect(await faults()).toEqual([]);
    await click(panel, one('keeping').querySelector('button') as HTMLElement);
    await panel.ack('attachment.chunk', { received: 1 });
    await vi.waitFor(() => expect(panel.sent('attachment.abort')).toMatchObject({ attachmentId: 'a' }), { timeout: 5_000 });
    await vi.waitFor(() => expect(every('keeping')).toEqual([]));
    expect([panel.all('attachment.commit'), panel.all('page.capture'), words('toast')]).toEqual([[], [], '']);
  });

  test('of a blocked site sends nothing', async () => {
    await doing(panel, () => panel.store.dispatch({ type: 'dialog', dialog: { kind: 'keep', tabId: null } }));
    await click(panel, one('confirm'));
    await blocking(['tides.example'], () => words('toast') !== '');
    expect([words('toast').includes('never captured'), panel.all('page.capture'), panel.all('attachment.begin')]).toEqual([true, [], []]);
  });
});

describe('the list of sites', () => {
  test('is written as names, once each', async () => {
    await doing(panel, () => panel.store.dispatch({ type: 'page.shown', page: 'settings' }));
    await blocking(['a.example'], () => (one('blocked-sites') as HTMLTextAreaElement).value === 'a.example');
    expect(await faults()).toEqual([]);
    await type(panel, one('blocked-sites'), 'https://www.bank.example/x\n*.bank.example a.example');
    await click(panel, one('save-blocked-sites'));
    await vi.waitFor(() => expect(panel.sent('settings.set')).toBeDefined());
    expect(panel.sent('settings.set')).toMatchObject({ patch: { 'capture.blocked_sites': ['bank.example', 'a.example'] } });
  });
});
