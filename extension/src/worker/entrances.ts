// The ways into the panel: toolbar button, shortcut, context menu. Each of them lets us read that page.
const ASK_ABOUT_PAGE = 'ask-about-page';

/** Left for the panel, which may open only now: attach this tab. */
export interface WantedPage { tabId: number; at: number }
export const WANTED_PAGE = 'wantedPage';

export function registerEntrances(): void {
  // Not `openPanelOnActionClick`: that opens the panel without the permission to read the page.
  chrome.action.onClicked.addListener((tab) => {
    void chrome.sidePanel.open({ windowId: tab.windowId });
  });

  chrome.contextMenus.onClicked.addListener((info, tab) => {
    if (info.menuItemId !== ASK_ABOUT_PAGE || tab?.id === undefined) return;
    void chrome.sidePanel.open({ windowId: tab.windowId });
    const wanted: WantedPage = { tabId: tab.id, at: Date.now() };
    void chrome.storage.session.set({ [WANTED_PAGE]: wanted });
  });

  chrome.runtime.onInstalled.addListener(() => {
    void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: false });
    chrome.contextMenus.removeAll(() => {
      chrome.contextMenus.create({
        id: ASK_ABOUT_PAGE,
        title: chrome.i18n.getMessage('askAboutPage'),
        contexts: ['page', 'selection'],
      });
    });
  });
}
