// Pictures of tabs: the browser takes two a second from the whole extension, so that all windows wait in one line.
import { CannotRead, refusalOf } from './unreadable';

const LOCK = 'sidekeep-picture';
/** Milliseconds from one picture to the next: a little more than half a second. */
export const APART = 520;
const TRIES = 4;
const QUOTA = /MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND|quota/i;
/** The tab was just shown and has not been drawn yet. */
const PASSING = /failed to capture|image readback|view is invisible/i;

export interface Clockwork {
  wait(milliseconds: number): Promise<void>;
}

const clock: Clockwork = { wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)) };

/** A data URL of what a window shows. Tries again, with growing waits, what passes by itself. Raises CannotRead. */
export async function takePicture(windowId: number, options: chrome.extensionTypes.ImageDetails, { wait } = clock): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTurn(() => chrome.tabs.captureVisibleTab(windowId, options), wait);
    } catch (error) {
      const said = String(error);
      const passes = QUOTA.test(said) || PASSING.test(said);
      if (!passes) throw new CannotRead(refusalOf(said, undefined) === 'no_access' ? 'no_access' : 'no_picture');
      if (tries === TRIES) throw new CannotRead('no_picture');
      await wait(APART * 2 ** (tries - 1));
    }
  }
}

/** One at a time over all pages of the extension; the turn ends only when the next picture is allowed. */
function inTurn<T>(take: () => Promise<T>, wait: Clockwork['wait']): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    void navigator.locks.request(LOCK, async () => {
      const rest = wait(APART);
      await take().then(resolve, reject);
      await rest;
    });
  });
}
