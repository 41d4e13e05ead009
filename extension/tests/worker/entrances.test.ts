// C4: entries of the context menu and shortcuts: each leaves for the panel what was asked for.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { registerEntrances, wantedBy } from '../../src/worker/entrances';

type Listener = (...given: unknown[]) => void;
const told = new Map<string, Listener>();
const made: { id: string; title: string; contexts: string[] }[] = [];
const opened: unknown[] = [];
const left: unknown[] = [];
const event = (name: string) => ({ addListener: (listener: Listener) => void told.set(name, listener) });

beforeEach(() => {
  told.clear();
  for (const list of [made, opened, left]) list.length = 0;
  vi.stubGlobal('chrome', {
    action: { onClicked: event('action') },
    commands: { onCommand: event('command') },
    contextMenus: { onClicked: event('menu'), removeAll: (then: () => void) => then(), create: (entry: (typeof made)[number]) => made.push(entry) },
    i18n: { getMessage: (key: string) => key },
    runtime: { onInstalled: event('installed') },
    sidePanel: { open: async (options: unknown) => void opened.push(options), setPanelBehavior: async () => undefined },
    storage: { session: { set: async (values: unknown) => void left.push(values) } },
  });
  registerEntrances();
});

const info = (menuItemId: string, more: object = {}): chrome.contextMenus.OnClickData => ({ menuItemId, editable: false, pageUrl: '', ...more }) as chrome.contextMenus.OnClickData;

describe('the context menu', () => {
  test('has an entry for page, selection, link and image, and one to keep', () => {
    told.get('installed')?.();
    expect(made.map(({ id, contexts }) => [id, contexts])).toEqual([
      ['page', ['page']], ['selection', ['selection']], ['link', ['link']], ['image', ['image']], ['keep', ['page', 'selection']],
    ]);
    expect(made.every(({ title }) => title !== '')).toBe(true);
  });

  test.each([
    [info('page'), { what: 'page', tabId: 7, at: 5 }],
    [info('keep'), { what: 'keep', tabId: 7, at: 5 }],
    [info('selection', { selectionText: 'words' }), { what: 'selection', tabId: 7, at: 5, text: 'words' }],
    [info('link', { linkUrl: 'https://a.example/' }), { what: 'link', tabId: 7, at: 5, url: 'https://a.example/' }],
    [info('image', { srcUrl: 'https://a.example/x.png' }), { what: 'image', tabId: 7, at: 5, url: 'https://a.example/x.png' }],
    [info('link'), null],
    [info('of another version'), null],
  ])('%j wants %j', (clicked, wanted) => expect(wantedBy(clicked, 7, 5)).toEqual(wanted));

  test('opens the panel in the moment of the click, then leaves what is wanted', () => {
    told.get('menu')?.(info('page'), { id: 7, windowId: 3 });
    expect(opened).toEqual([{ windowId: 3 }]);
    expect(left).toMatchObject([{ wanted: { what: 'page', tabId: 7 } }]);
  });
});

describe('shortcuts', () => {
  test.each([['attach-page', 'page'], ['keep-page', 'keep']])('%s opens the panel and wants: %s', (command, what) => {
    told.get('command')?.(command, { id: 7, windowId: 3 });
    expect([opened, left]).toMatchObject([[{ windowId: 3 }], [{ wanted: { what, tabId: 7 } }]]);
  });

  test('an unknown one opens nothing, the button wants nothing', () => {
    told.get('command')?.('other', { id: 7, windowId: 3 });
    expect(opened).toEqual([]);
    told.get('action')?.({ id: 7, windowId: 3 });
    expect([opened, left]).toEqual([[{ windowId: 3 }], []]);
  });
});
