// An image of a page: its bytes as the page has them, as a type that models take.
import { fetched } from './fetched';
import type { Picture } from './picture';
import { refuseBlocked } from './sites';
import { CannotRead } from './unreadable';

const TAKEN: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const LONGEST_EDGE = 8_000;

/** Raises CannotRead. */
export async function inImage(url: string, tab: chrome.tabs.Tab & { id: number }, limit: number): Promise<Picture & { readonly name: string }> {
  await refuseBlocked(tab.url, url);
  const { bytes, mime } = await bytesOf(url, tab, limit);
  if (mime !== '' && !mime.startsWith('image/')) throw new CannotRead('no_picture');
  let image: ImageBitmap;
  try {
    image = await createImageBitmap(bytes);
  } catch {
    throw new CannotRead('no_picture');
  }
  const { width, height } = image;
  const name = nameOf(url);
  if (TAKEN.has(mime) && Math.max(width, height) <= LONGEST_EDGE) {
    image.close();
    return { bytes: new Blob([bytes], { type: mime }), width, height, name };
  }
  return { ...(await redrawn(image)), name };
}

/** The page can read what it made itself (`blob:`) and what is of its own site; the rest is asked for anew. */
async function bytesOf(url: string, tab: chrome.tabs.Tab & { id: number }, limit: number): Promise<{ bytes: Blob; mime: string }> {
  if (!url.startsWith('blob:') && !sameOrigin(url, tab.url)) return fetched(url, limit);
  let answers: chrome.scripting.InjectionResult<string | null>[];
  try {
    answers = await chrome.scripting.executeScript({ target: { tabId: tab.id, allFrames: true }, func: dataUrlOf, args: [url] });
  } catch {
    return fetched(url, limit);
  }
  const found = answers.find(({ result }) => result)?.result;
  if (!found) return fetched(url, limit);
  const bytes = await (await fetch(found)).blob();
  if (bytes.size > limit) throw new CannotRead('too_large', String(Math.floor(limit / 1_048_576)));
  return { bytes, mime: bytes.type };
}

const sameOrigin = (url: string, page: string | undefined): boolean =>
  page !== undefined && URL.canParse(url) && URL.canParse(page) && new URL(url).origin === new URL(page).origin;

/** Runs in the page, so it uses nothing from here. */
async function dataUrlOf(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { cache: 'force-cache', credentials: 'include' });
    if (!response.ok) return null;
    const bytes = await response.blob();
    return await new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result as string);
      reader.onerror = () => resolve(null);
      reader.readAsDataURL(bytes);
    });
  } catch {
    return null;
  }
}

async function redrawn(image: ImageBitmap): Promise<Picture> {
  const scale = Math.min(1, LONGEST_EDGE / Math.max(image.width, image.height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(image.width * scale)), Math.max(1, Math.round(image.height * scale)));
  const paper = canvas.getContext('2d');
  if (!paper) throw new CannotRead('no_picture');
  paper.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  return { bytes: await canvas.convertToBlob({ type: 'image/png' }), width: canvas.width, height: canvas.height };
}

function nameOf(url: string): string {
  if (!/^https?:/.test(url) || !URL.canParse(url)) return '';
  const last = new URL(url).pathname.split('/').findLast((part) => part !== '') ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
