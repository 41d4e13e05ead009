// Sends bytes to the companion in chunks: a few in flight, resumed after the worker or the host died, cancelled cleanly.
import { effect } from '@preact/signals';
import { againIn } from '../../outbox/entry';
import type { AttachmentKept, Wanted } from '../../protocol';
import { link } from '../store';
import { ask, command, Refusal } from './session';

export interface UploadWish extends Omit<Wanted<'attachment.begin'>, 'size' | 'sha256'> {
  readonly bytes: Blob;
}

export interface Uploaded extends Pick<AttachmentKept, 'sha256' | 'size'> {
  readonly attachmentId: string;
}

export interface UploadWatch {
  readonly signal?: AbortSignal;
  /** Bytes that the companion has, of all. */
  onProgress?(sent: number, total: number): void;
}

const IN_FLIGHT = 4;
/** Refusals of a chunk that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set(['overloaded', 'store_busy', 'internal']);
const TRIES = 8;

/**
 * Keeps `bytes` as an attachment. Raises Refusal (`too_large` before anything is sent), or the signal's reason once it
 * is cancelled; then nothing is left at the companion.
 */
export async function upload({ bytes, ...about }: UploadWish, watch: UploadWatch = {}): Promise<Uploaded> {
  const { signal, onProgress } = watch;
  signal?.throwIfAborted();
  await connected(signal);
  if (bytes.size > uploadLimit()) throw new Refusal('too_large', '');
  const sha256 = await digestOf(bytes);
  signal?.throwIfAborted();
  // Not cancelled while it waits here: only an upload whose id is known can be given up.
  const { attachmentId, chunkBytes, have } = await command('attachment.begin', { ...about, size: bytes.size, sha256 });
  try {
    if (!have) await sendAll(attachmentId, bytes, chunkBytes, watch);
    signal?.throwIfAborted();
    onProgress?.(bytes.size, bytes.size);
    const kept = await command('attachment.commit', { attachmentId });
    return { attachmentId, sha256: kept.sha256, size: kept.size };
  } catch (error) {
    // Refused where it has gone already, after a mismatch: that is as well.
    void command('attachment.abort', { attachmentId }).catch(() => undefined);
    throw error;
  }
}

export function uploadLimit(): number {
  const status = link.peek();
  return status.phase === 'ready' ? status.limits.uploadBytes : Infinity;
}

async function sendAll(attachmentId: string, bytes: Blob, chunkBytes: number, { signal, onProgress }: UploadWatch): Promise<void> {
  const count = Math.ceil(bytes.size / chunkBytes);
  const here = new Set<number>();
  const told = (): void => onProgress?.(Math.min(here.size * chunkBytes, bytes.size), bytes.size);
  while (here.size < count) {
    const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !here.has(index));
    const lost = await sendSome(missing, async (index) => {
      signal?.throwIfAborted();
      const data = await base64Of(bytes.slice(index * chunkBytes, (index + 1) * chunkBytes));
      await patiently(signal, () => ask('attachment.chunk', { attachmentId, index, data }));
      here.add(index);
      told();
    });
    if (!lost) return;
    await connected(signal);
    await statusOf(attachmentId, here, signal);
    told();
  }
}

/** Runs `send` over all, a few at a time; true when the host went away meanwhile. Other faults are raised. */
async function sendSome(indices: readonly number[], send: (index: number) => Promise<void>): Promise<boolean> {
  const rest = [...indices];
  let lost = false;
  const lane = async (): Promise<void> => {
    for (let index = rest.shift(); index !== undefined && !lost; index = rest.shift()) {
      try {
        await send(index);
      } catch (error) {
        if (!isAway(error)) {
          rest.length = 0;
          throw error;
        }
        lost = true;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return lost;
}

async function statusOf(attachmentId: string, here: Set<number>, signal: AbortSignal | undefined): Promise<void> {
  try {
    const { data } = await patiently(signal, () => ask('attachment.status', { attachmentId }));
    here.clear();
    for (const [from, to] of data.received) for (let index = from; index <= to; index += 1) here.add(index);
  } catch (error) {
    // Gone again: the next round asks once more.
    if (!isAway(error)) throw error;
  }
}

const isAway = (error: unknown): boolean => error instanceof Refusal && error.code === 'not_connected';

/** Asks again, with growing waits, while the refusal is one that passes. */
async function patiently<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || !PASSING.has(error.code) || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, againIn(tries)));
      signal?.throwIfAborted();
    }
  }
}

/** Resolves once a host with an open store is there. Raises the signal's reason when it is cancelled before. */
export function connected(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let stop: () => void = () => undefined;
    const cancelled = (): void => {
      stop();
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', cancelled, { once: true });
    stop = effect(() => {
      if (link.value.phase !== 'ready') return;
      signal?.removeEventListener('abort', cancelled);
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

/** The SHA-256 in lower-case hex. */
export async function digestOf(bytes: Blob): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await bytes.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The reader makes base64 without a copy as text in between. */
function base64Of(bytes: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = reader.result as string;
      resolve(url.slice(url.indexOf(',') + 1));
    };
    reader.onerror = () => reject(reader.error ?? new Error('FileReader'));
    reader.readAsDataURL(bytes);
  });
}
