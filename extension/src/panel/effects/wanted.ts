// Does what was asked for outside of the panel, by context menu or shortcut, maybe before this panel was there.
import { type Wanted, WANTED } from '../../channel';
import { attachHere, attachImage, attachLink, attachSelection } from './attaching';
import { askToKeep } from './keeping';

/** Milliseconds: an older wish is of a panel that never came. */
const FRESH = 10_000;

function carryOut(wanted: Wanted): void {
  switch (wanted.what) {
    case 'page':
      void attachHere(wanted.tabId);
      return;
    case 'selection':
      void attachSelection(wanted.tabId, wanted.text);
      return;
    case 'link':
      void attachLink(wanted.url);
      return;
    case 'image':
      void attachImage(wanted.url, wanted.tabId);
      return;
    case 'keep':
      askToKeep(wanted.tabId);
  }
}

export function attachWanted(): void {
  const take = async (wanted: Wanted | undefined): Promise<void> => {
    if (!wanted || Date.now() - wanted.at > FRESH || !(await isForThisWindow(wanted))) return;
    await chrome.storage.session.remove(WANTED);
    carryOut(wanted);
  };
  void chrome.storage.session.get(WANTED).then((kept) => take(kept[WANTED] as Wanted | undefined));
  chrome.storage.session.onChanged.addListener((changes) => void take(changes[WANTED]?.newValue as Wanted | undefined));
}

/** Panels of other windows hear of it too; a panel in a tab leaves it to the one beside the page. */
async function isForThisWindow({ tabId }: Wanted): Promise<boolean> {
  if (await chrome.tabs.getCurrent()) return false;
  try {
    const [tab, here] = await Promise.all([chrome.tabs.get(tabId), chrome.windows.getCurrent()]);
    return tab.windowId === here.id;
  } catch {
    return false;
  }
}
