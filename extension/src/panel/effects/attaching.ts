// Puts what was read from a page into the draft, and says why when nothing could be read.
import { signal } from '@preact/signals';
import type { ContextBlock } from '../../protocol';
import { WANTED_PAGE, type WantedPage } from '../../worker/entrances';
import { t } from '../i18n';
import { NO_DRAFT } from '../state/model';
import { conversation, dispatch, drafts } from '../store';
import { sendDraft, toast } from './actions';
import { attachPage, CannotRead } from './attach';
import { WHY } from './unreadable';

export const attaching = signal(false);
/** How long the text was of which a block holds the beginning. */
export const cuts = new WeakMap<ContextBlock, number>();

function change(update: (draft: typeof NO_DRAFT) => typeof NO_DRAFT): void {
  const { threadId } = conversation.peek();
  dispatch({ type: 'draft', threadId, draft: update(drafts.peek()[threadId] ?? NO_DRAFT) });
}

export function addContext(block: ContextBlock): void {
  change((draft) => ({
    ...draft,
    // The same page again is its newer state.
    context: [...draft.context.filter((each) => block.kind !== 'page' || each.kind !== 'page' || each.url !== block.url), block],
  }));
}

export function removeContext(block: ContextBlock): void {
  change((draft) => ({ ...draft, context: draft.context.filter((each) => each !== block) }));
}

/** Must be called first thing in a click handler: it may have to ask for permission. */
export async function attachHere(tabId?: number): Promise<boolean> {
  if (attaching.peek()) return false;
  attaching.value = true;
  try {
    const { block, cutFrom } = await attachPage(tabId);
    if (cutFrom !== undefined) cuts.set(block, cutFrom);
    addContext(block);
    return true;
  } catch (error) {
    toast(t(error instanceof CannotRead ? WHY[error.why] : 'readUnknown'), 'error');
    return false;
  } finally {
    attaching.value = false;
  }
}

export async function summariseHere(): Promise<void> {
  if (!(await attachHere())) return;
  change((draft) => ({ ...draft, text: t('summarisePage') }));
  sendDraft();
}

/** The context menu asked for a page, maybe before this panel was there. */
export function attachWanted(): void {
  const take = (wanted: WantedPage | undefined): void => {
    if (!wanted || Date.now() - wanted.at > 10_000) return;
    void chrome.storage.session.remove(WANTED_PAGE);
    void attachHere(wanted.tabId);
  };
  void chrome.storage.session.get(WANTED_PAGE).then((kept) => take(kept[WANTED_PAGE] as WantedPage | undefined));
  chrome.storage.session.onChanged.addListener((changes) => take(changes[WANTED_PAGE]?.newValue as WantedPage | undefined));
}
