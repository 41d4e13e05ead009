// Bytes from the network: the PDF in a tab, the page behind a link, an image.
import { refuseBlocked, siteOf } from './sites';
import { CannotRead } from './unreadable';

const DEADLINE = 60_000;

export interface Fetched {
  readonly bytes: Blob;
  readonly mime: string;
  /** Where it came from in the end. */
  readonly url: string;
}

/** As the person's browser gets it, with its cookies. Raises CannotRead: `no_access` where it may not be asked for. */
export async function fetched(url: string, limit: number): Promise<Fetched> {
  await refuseBlocked(url);
  const signal = AbortSignal.timeout(DEADLINE);
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'include', signal });
  } catch {
    if (signal.aborted) throw new CannotRead('too_slow');
    throw new CannotRead(url.startsWith('file:') ? 'local_file' : (await mayAsk(url)) ? 'no_fetch' : 'no_access', siteOf(url));
  }
  await refuseBlocked(response.url);
  if (!response.ok) throw new CannotRead('no_fetch', siteOf(url));
  const bytes = await bounded(response, limit);
  const mime = (bytes.type || (response.headers.get('content-type') ?? '')).split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return { bytes, mime, url: response.url || url };
}

function mayAsk(url: string): Promise<boolean> {
  return /^https?:/.test(url) ? chrome.permissions.contains({ origins: [`${new URL(url).protocol}//${new URL(url).hostname}/*`] }) : Promise.resolve(true);
}

/** Its body, as long as it is not larger than what can be kept. */
async function bounded(response: Response, limit: number): Promise<Blob> {
  const tooLarge = (): CannotRead => new CannotRead('too_large', String(Math.floor(limit / 1_048_576)));
  if (Number(response.headers.get('content-length') ?? 0) > limit) throw tooLarge();
  const parts: BlobPart[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    size += piece.value.byteLength;
    if (size > limit) {
      void reader?.cancel();
      throw tooLarge();
    }
    parts.push(piece.value);
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' });
}
