// The files that go with the next message of a chat: sent to the companion while the words are still being written.
import { signal } from '@preact/signals';
import { newId } from '../../ids';
import type { Attachment } from '../../protocol';
import { cutText } from '../../text';
import { learn } from './attachments';
import { begun } from './begun';
import { command, Refusal } from './session';
import { upload } from './uploads';

export interface DraftFile {
  readonly id: string;
  readonly threadId: string;
  readonly name: string;
  readonly mime: string;
  readonly size: number;
  readonly state: 'waiting' | 'sending' | 'there' | 'failed';
  /** Bytes that the companion has. */
  readonly sent: number;
  /** An object URL of an image. */
  readonly preview?: string;
  readonly attachmentId?: string;
  /** It belongs to a message that was sent before, and stays when it is taken out of this one. */
  readonly kept?: true;
  /** Why it failed: a wire code. */
  readonly code?: string;
}

export const files = signal<readonly DraftFile[]>([]);

const AT_ONCE = 2;
const NAME_UNITS = 200;
const bytesOf = new Map<string, { readonly bytes: Blob; readonly stop: AbortController }>();
let running = 0;

export const filesOf = (threadId: string): readonly DraftFile[] => files.value.filter((each) => each.threadId === threadId);

export function isImage(mime: string): boolean {
  return mime.startsWith('image/');
}

function update(id: string, change: Partial<DraftFile>): void {
  files.value = files.peek().map((each) => (each.id === id ? { ...each, ...change } : each));
}

export function addFiles(threadId: string, added: Iterable<File>): void {
  const fresh: DraftFile[] = [];
  for (const file of added) {
    const id = newId();
    const mime = file.type || 'application/octet-stream';
    const preview = isImage(mime) ? { preview: URL.createObjectURL(file) } : {};
    bytesOf.set(id, { bytes: file, stop: new AbortController() });
    fresh.push({ id, threadId, name: nameOf(file), mime, size: file.size, state: 'waiting', sent: 0, ...preview });
  }
  files.value = [...files.peek(), ...fresh];
  next();
}

function nameOf(file: File): string {
  return cutText(file.name.toWellFormed(), NAME_UNITS) || 'file';
}

/** What an earlier message named goes with its new form, without being sent again. */
export function takeUp(threadId: string, attachments: readonly Attachment[]): void {
  const kept = attachments.map((each): DraftFile => ({
    id: newId(), threadId, name: each.meta?.title ?? each.kind, mime: each.mime, size: each.size, state: 'there', sent: each.size,
    attachmentId: each.id, kept: true,
  }));
  files.value = [...files.peek().filter((each) => each.threadId !== threadId || !each.kept), ...kept];
}

/** Sends what waits, a few files at once. */
function next(): void {
  for (const file of files.peek()) {
    if (running >= AT_ONCE) return;
    if (file.state === 'waiting') void send(file);
  }
}

async function send({ id, threadId, name, mime }: DraftFile): Promise<void> {
  const source = bytesOf.get(id);
  if (!source) return;
  running += 1;
  update(id, { state: 'sending' });
  try {
    const { bytes, stop } = source;
    await begun(threadId);
    const meta = { title: name, ...(isImage(mime) ? await measures(bytes) : {}) };
    const about = { threadId, kind: isImage(mime) ? 'image' : 'file', mime, provenance: 'user', trust: 'trusted', meta } as const;
    const kept = await upload({ bytes, ...about }, { signal: stop.signal, onProgress: (sent) => update(id, { sent }) });
    learn({ id: kept.attachmentId, ...about, size: kept.size, sha256: kept.sha256, createdAt: Date.now(), pinned: false });
    // Taken out in the moment of its commit.
    if (stop.signal.aborted) discard(kept.attachmentId);
    else update(id, { state: 'there', sent: kept.size, attachmentId: kept.attachmentId });
  } catch (error) {
    update(id, { state: 'failed', code: error instanceof Refusal ? error.code : 'unreadable' });
  } finally {
    running -= 1;
    next();
  }
}

async function measures(bytes: Blob): Promise<{ w?: number; h?: number }> {
  try {
    const { width, height, close } = await createImageBitmap(bytes).then((picture) => ({
      width: picture.width, height: picture.height, close: () => picture.close(),
    }));
    close();
    return { w: width, h: height };
  } catch {
    // Not a picture that this browser can draw: it is sent all the same.
    return {};
  }
}

function discard(attachmentId: string): void {
  void command('attachment.delete', { attachmentId }).catch(() => undefined);
}

export function retryFile(id: string): void {
  const source = bytesOf.get(id);
  if (source) bytesOf.set(id, { ...source, stop: new AbortController() });
  files.value = files.peek().map((each) => {
    if (each.id !== id) return each;
    const { code: _code, ...rest } = each;
    return { ...rest, state: 'waiting', sent: 0 };
  });
  next();
}

/** Takes a file out of the draft; nothing of it stays at the companion. */
export function removeFile(id: string): void {
  const file = files.peek().find((each) => each.id === id);
  files.value = files.peek().filter((each) => each.id !== id);
  bytesOf.get(id)?.stop.abort();
  forget(id, file);
  if (file?.attachmentId !== undefined && !file.kept) discard(file.attachmentId);
}

function forget(id: string, file: DraftFile | undefined): void {
  bytesOf.delete(id);
  if (file?.preview !== undefined) URL.revokeObjectURL(file.preview);
}

/** The message is on its way and names them: they leave the draft. */
export function sendOff(threadId: string): readonly DraftFile[] {
  const gone = filesOf(threadId);
  files.value = files.peek().filter((each) => each.threadId !== threadId);
  for (const file of gone) forget(file.id, file);
  return gone;
}

/** The message could not be kept after all. */
export function comeBack(gone: readonly DraftFile[]): void {
  files.value = [...files.peek(), ...gone.map(({ preview: _preview, ...rest }) => rest)];
}

/** What an edit took up goes when the edit is left. */
export function dropTakenUp(threadId: string): void {
  files.value = files.peek().filter((each) => each.threadId !== threadId || !each.kept);
}
