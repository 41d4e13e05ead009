// The ways into the panel: toolbar button, shortcuts, context menu. Each of them lets us read that page.
import { type Wanted, WANTED } from '../channel';

/** Entries of the context menu: where they are shown, and what they want. */
const ENTRIES: readonly { readonly what: Wanted['what']; readonly title: string; readonly contexts: [`${chrome.contextMenus.ContextType}`, ...`${chrome.contextMenus.ContextType}`[]] }[] = [
  { what: 'page', title: 'askAboutPage', contexts: ['page'] },
  { what: 'selection', title: 'askAboutSelection', contexts: ['selection'] },
  { what: 'link', title: 'askAboutLink', contexts: ['link'] },
  { what: 'image', title: 'askAboutImage', contexts: ['image'] },
  { what: 'keep', title: 'keepPage', contexts: ['page', 'selection'] },
];
const COMMANDS: Readonly<Record<string, Wanted['what']>> = { 'attach-page': 'page', 'keep-page': 'keep' };

/** What is wanted of a click in the menu; null for a click that names nothing. */
export function wantedBy(info: chrome.contextMenus.OnClickData, tabId: number, at: number): Wanted | null {
  const entry = ENTRIES.find(({ what }) => what === info.menuItemId);
  switch (entry?.what) {
    case undefined:
      return null;
    case 'selection':
      return { what: 'selection', tabId, at, text: info.selectionText ?? '' };
    case 'link':
      return info.linkUrl ? { what: 'link', tabId, at, url: info.linkUrl } : null;
    case 'image':
      return info.srcUrl ? { what: 'image', tabId, at, url: info.srcUrl } : null;
    default:
      return { what: entry?.what ?? 'page', tabId, at };
  }
}

function open(tab: chrome.tabs.Tab, wanted: Wanted | null): void {
  // Not `openPanelOnActionClick`: that opens the panel without the permission to read the page.
  void chrome.sidePanel.open({ windowId: tab.windowId });
  // Left for the panel, which may open only now.
  if (wanted) void chrome.storage.session.set({ [WANTED]: wanted });
}

export function registerEntrances(): void {
  chrome.action.onClicked.addListener((tab) => open(tab, null));

  chrome.contextMenus.onClicked.addListener((info, tab) => {
    if (tab?.id !== undefined) open(tab, wantedBy(info, tab.id, Date.now()));
  });

  chrome.commands.onCommand.addListener((command, tab) => {
    const what = COMMANDS[command];
    if (what && tab?.id !== undefined) open(tab, { what, tabId: tab.id, at: Date.now() } as Wanted);
  });

  chrome.runtime.onInstalled.addListener(() => {
    void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: false });
    chrome.contextMenus.removeAll(() => {
      for (const { what, title, contexts } of ENTRIES) {
        chrome.contextMenus.create({ id: what, title: chrome.i18n.getMessage(title), contexts });
      }
    });
  });
}
