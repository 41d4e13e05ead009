// Keeps a page at the companion: text, full copy and picture are taken, sent as parts, and named in one record.
import { command, Refusal } from '../effects/session';
import { connected, type Uploaded, uploadLimit, upload, type UploadWish } from '../effects/uploads';
import { cutText } from '../../text';
import { conversation, link } from '../store';
import { type Cut, pictureCut, recorded } from './cuts';
import { readPdf, textOfAttachment } from './pdf';
import { wholePicture } from './picture';
import { keeping } from './progress';
import { looksLikePdf, pageText } from './read';
import { refuseBlocked } from './sites';
import { fullCopy } from './snapshot';
import { CannotRead } from './unreadable';

export interface KeepChoice {
  readonly copy: boolean;
  readonly picture: boolean;
}

export interface KeptPage {
  readonly pageId: string;
  readonly title: string;
  readonly cuts: readonly Cut[];
}

type Tab = chrome.tabs.Tab & { id: number };
/** Bytes of a record's text as JSON: an op has at most 8 MiB, and it is kept in the outbox meanwhile. */
const TEXT_BYTES = 6 * 1_048_576;

interface Taken {
  title: string;
  url: string;
  text?: string;
  readonly wishes: UploadWish[];
  /** Parts that are at the companion already. */
  readonly sent: Uploaded[];
  readonly cuts: Cut[];
}

const jsonBytes = (text: string): number => new Blob([JSON.stringify(text)]).size;

/** Raises CannotRead, Refusal, or the signal's reason; then nothing of it stays at the companion. */
export async function keepTab(tab: Tab, choice: KeepChoice, stop: AbortSignal): Promise<KeptPage> {
  keeping.value = { phase: 'reading', part: 0, bytes: 0 };
  const capturedAt = Date.now();
  const taken: Taken = { title: tab.title ?? '', url: tab.url ?? '', wishes: [], sent: [], cuts: [] };
  try {
    await refuseBlocked(tab.url);
    await take(tab, choice, taken, stop);
    stop.throwIfAborted();
    const parts = await send(taken, stop);
    const { threadId, loaded } = conversation.peek();
    const bytes = parts.reduce((sum, { size }) => sum + size, new Blob([taken.text ?? '']).size);
    const { pageId } = await command('page.capture', {
      ...(loaded ? { threadId } : {}),
      url: taken.url,
      title: taken.title || taken.url,
      capturedAt,
      parts: parts.map(({ attachmentId }) => attachmentId),
      ...(taken.text !== undefined ? { text: taken.text } : {}),
      ...(taken.cuts.length > 0 ? { cut: { reason: recorded(taken.cuts), keptBytes: bytes } } : {}),
    });
    taken.sent.length = 0;
    return { pageId, title: taken.title || taken.url, cuts: taken.cuts };
  } finally {
    keeping.value = null;
    for (const { attachmentId } of taken.sent) void command('attachment.delete', { attachmentId }).catch(() => undefined);
  }
}

async function take(tab: Tab, choice: KeepChoice, taken: Taken, stop: AbortSignal): Promise<void> {
  if (!(await takeText(tab, taken, stop))) return;
  const here = { url: taken.url, title: taken.title };
  const about = { provenance: 'page', trust: 'untrusted', sourceRef: taken.url, meta: here } as const;
  if (choice.copy) {
    await orLeaveOut(taken, 'no_copy', async () => {
      const bytes = await onSamePage(tab, taken.url, () => fullCopy(tab));
      if (bytes.size > limit()) taken.cuts.push('copy_large');
      else taken.wishes.push({ bytes, kind: 'page_snapshot', mime: 'multipart/related', ...about });
    });
  }
  stop.throwIfAborted();
  if (choice.picture) {
    await orLeaveOut(taken, 'no_picture', async () => {
      const picture = await wholePicture(tab, stop, (part) => (keeping.value = { phase: 'picture', part, bytes: 0 }));
      if (picture.cut) taken.cuts.push(picture.cut);
      const meta = { ...here, w: picture.width, h: picture.height };
      taken.wishes.push({ bytes: picture.bytes, kind: 'screenshot', mime: picture.bytes.type, ...about, meta });
    });
  }
  if (taken.text === undefined && taken.wishes.length === 0) throw new CannotRead('no_text');
}

/** False where the text is the whole page: a PDF has neither copy nor length that scrolls. */
async function takeText(tab: Tab, taken: Taken, stop: AbortSignal): Promise<boolean> {
  try {
    if (looksLikePdf(tab.url)) throw new CannotRead('pdf');
    const page = await pageText(tab);
    Object.assign(taken, { title: page.title, url: page.url });
    if (page.closedFrames.length > 0) taken.cuts.push('frames');
    setText(taken, page.text, page.cutFrom !== undefined);
    return true;
  } catch (error) {
    if (!(error instanceof CannotRead)) throw error;
    if (error.why === 'pdf') {
      await takePdf(tab, taken, stop);
      return false;
    }
    if (error.why !== 'no_text' && error.why !== 'drawn' && error.why !== 'error_page') throw error;
    taken.cuts.push('no_text');
    return true;
  }
}

async function takePdf(tab: Tab, taken: Taken, stop: AbortSignal): Promise<void> {
  const pdf = await readPdf(tab, watching(stop));
  taken.sent.push({ attachmentId: pdf.attachmentId, size: pdf.size, sha256: '' });
  Object.assign(taken, { title: pdf.title, url: pdf.url });
  setText(taken, await textOfAttachment(pdf.textId, TEXT_BYTES), pdf.cut !== undefined);
}

function setText(taken: Taken, text: string, cut: boolean): void {
  const size = jsonBytes(text);
  taken.text = size <= TEXT_BYTES ? text : cutText(text, Math.floor((text.length * TEXT_BYTES) / size));
  if (cut || taken.text.length < text.length) taken.cuts.push('text_long');
}

/** A part that cannot be had is left out, and that is said; `missing` where the fault tells no better reason. */
async function orLeaveOut(taken: Taken, missing: Cut, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CannotRead)) throw error;
    const why = pictureCut(error.why);
    taken.cuts.push(why === 'no_picture' ? missing : why);
  }
}

/** A tab that went on meanwhile would give a copy of another page. */
async function onSamePage<T>(tab: Tab, url: string, work: () => Promise<T>): Promise<T> {
  const isHere = async (): Promise<boolean> => plain((await chrome.tabs.get(tab.id).catch(() => tab)).url ?? url) === plain(url);
  if (!(await isHere())) throw new CannotRead('moved');
  const found = await work();
  if (!(await isHere())) throw new CannotRead('moved');
  return found;
}

const plain = (url: string): string => url.split('#', 1)[0] ?? '';
const limit = (): number => (link.peek().phase === 'ready' ? uploadLimit() : 64 * 1_048_576);

const watching = (stop: AbortSignal) => ({
  signal: stop,
  onProgress: (sent: number, total: number) => (keeping.value = { phase: 'sending', part: total === 0 ? 1 : sent / total, bytes: total }),
});

async function send(taken: Taken, stop: AbortSignal): Promise<readonly Uploaded[]> {
  if (link.peek().phase !== 'ready') keeping.value = { phase: 'waits', part: 0, bytes: 0 };
  await connected(stop);
  for (const wish of taken.wishes) {
    try {
      taken.sent.push(await upload(wish, watching(stop)));
    } catch (error) {
      // Some hosts take less than we thought: the rest of the page is worth keeping all the same.
      if (!(error instanceof Refusal) || error.code !== 'too_large') throw error;
      taken.cuts.push(wish.kind === 'page_snapshot' ? 'copy_large' : 'no_picture');
    }
  }
  return [...taken.sent];
}
