// A picture of what a tab shows, or of all of it: scrolled, taken piece by piece and joined.
import type { Strips } from '../../page/strips';
import { type Cut, pictureCut } from './cuts';
import { inPage } from './inject';
import { takePicture } from './limiter';
import { refuseBlocked, refuseBlockedInside } from './sites';
import { CannotRead } from './unreadable';

type Tab = chrome.tabs.Tab & { id: number };

export interface Picture {
  readonly bytes: Blob;
  readonly width: number;
  readonly height: number;
  /** Why it ends before the page does. */
  readonly cut?: Cut;
}

/** In pixels of the picture; far below what a canvas takes, and far above what a model looks at. */
const TALLEST = 24_000;
const LARGEST_AREA = 64_000_000;
const MILLISECONDS_AT_MOST = 45_000;
/** Pages scroll by parts of pixels too. */
const HALF_A_PIXEL = 0.5;

interface Piece { readonly image: ImageBitmap; readonly top: number }

/** What can be seen of the tab now. Raises CannotRead. */
export async function visiblePicture(tab: Tab): Promise<Picture> {
  const image = await shot(tab);
  return joined([{ image, top: 0 }], image.width, image.height, 'image/png');
}

/** All of the tab's page. What came before a fault is kept, and said to be cut. Raises CannotRead when nothing came. */
export async function wholePicture(tab: Tab, signal?: AbortSignal, onPiece?: (part: number) => void): Promise<Picture> {
  const began = Date.now();
  const [strips] = await inPage(tab, 'prepare');
  if (!strips) throw new CannotRead('no_picture');
  const pieces: Piece[] = [];
  let bottom = 0;
  let scale = 1;
  let cut: Cut | undefined;
  try {
    while (bottom < strips.fullHeight) {
      signal?.throwIfAborted();
      if (pieces.length > 0 && bottom + strips.height > tallest(strips, scale)) cut = 'picture_long';
      else if (Date.now() - began > MILLISECONDS_AT_MOST) cut = 'picture_slow';
      if (cut) break;
      const [at] = await inPage(tab, 'goTo', [bottom]);
      if (!at) throw new CannotRead('moved');
      const image = await shot(tab);
      scale = image.width / at.windowWidth;
      // At the end of the page it scrolls less than was asked: only what is new is taken.
      const skip = bottom - at.y;
      const height = Math.min(at.height - skip, strips.fullHeight - bottom);
      if (height < HALF_A_PIXEL || skip < 0) break;
      pieces.push({ image: await crop(image, at, skip, height, scale), top: bottom * scale });
      image.close();
      bottom += height;
      onPiece?.(bottom / strips.fullHeight);
      // A list without an end is taken as far as it was when we began.
      if (bottom >= strips.fullHeight && at.fullHeight > strips.fullHeight + at.height) cut = 'picture_grew';
    }
  } catch (error) {
    if (pieces.length === 0 || !(error instanceof CannotRead)) throw error;
    cut = pictureCut(error.why);
  } finally {
    await inPage(tab, 'leave').catch(() => undefined);
  }
  const picture = await joined(pieces, strips.width * scale, bottom * scale, 'image/jpeg');
  return cut === undefined ? picture : { ...picture, cut };
}

const tallest = ({ width }: Strips, scale: number): number => Math.min(TALLEST / scale, LARGEST_AREA / (width * scale * scale));

/** The picture of a window is the picture of this tab only while it is the one in front, on the same page. */
async function shot(tab: Tab): Promise<ImageBitmap> {
  const before = await front(tab);
  const url = await takePicture(tab.windowId, { format: 'png' });
  const after = await front(tab);
  if (before !== after) throw new CannotRead('moved');
  return createImageBitmap(await (await fetch(url)).blob());
}

async function front(tab: Tab): Promise<string | undefined> {
  let now: chrome.tabs.Tab;
  try {
    now = await chrome.tabs.get(tab.id);
  } catch {
    throw new CannotRead('gone');
  }
  if (!now.active) throw new CannotRead('not_in_front');
  await refuseBlocked(now.url, now.pendingUrl);
  await refuseBlockedInside(tab);
  return now.url;
}

function crop(image: ImageBitmap, at: Strips, skip: number, height: number, scale: number): Promise<ImageBitmap> {
  const y = Math.round((at.top + skip) * scale);
  const width = Math.min(Math.round(at.width * scale), image.width);
  return createImageBitmap(image, Math.round(at.left * scale), y, width, Math.max(1, Math.min(Math.round(height * scale), image.height - y)));
}

async function joined(pieces: readonly Piece[], width: number, height: number, type: string): Promise<Picture> {
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(width)), Math.max(1, Math.round(height)));
  const paper = canvas.getContext('2d', { alpha: false });
  if (!paper || pieces.length === 0) throw new CannotRead('no_picture');
  for (const { image, top } of pieces) {
    paper.drawImage(image, 0, Math.round(top));
    image.close();
  }
  const bytes = await canvas.convertToBlob({ type, quality: 0.88 });
  return { bytes, width: canvas.width, height: canvas.height };
}
