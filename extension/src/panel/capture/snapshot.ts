// A full copy of a page as the browser saves it (MHTML), with everything that it shows.
import { refuseBlocked, refuseBlockedInside } from './sites';
import { within } from './inject';
import { CannotRead } from './unreadable';

const DEADLINE = 60_000;

/** Raises CannotRead. The permission must have been given. */
export async function fullCopy(tab: chrome.tabs.Tab & { id: number }): Promise<Blob> {
  await refuseBlocked(tab.url);
  await refuseBlockedInside(tab);
  let copy: Blob | ArrayBuffer | undefined;
  try {
    copy = await within(chrome.pageCapture.saveAsMHTML({ tabId: tab.id }), DEADLINE);
  } catch (error) {
    throw error instanceof CannotRead ? error : new CannotRead('no_copy');
  }
  const bytes = copy instanceof Blob ? copy : new Blob(copy ? [copy] : []);
  if (bytes.size === 0) throw new CannotRead('no_copy');
  return new Blob([bytes], { type: 'multipart/related' });
}
