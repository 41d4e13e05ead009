// What the panel knows of attachments, and their bytes: read in ranges when they are looked at, a few kept at hand.
import { signal } from '@preact/signals';
import type { Attachment } from '../../protocol';
import { cutText } from '../../text';
import { t } from '../i18n';
import { can, dispatch } from '../store';
import { ask, command, Refusal } from './session';
import { sentence } from './sentences';
import { newId } from '../../ids';

const LIST = 200;
const RANGE = 512 * 1024;
const IN_FLIGHT = 3;
/** Bytes of pictures that are kept at hand. */
const AT_HAND = 96 * 1_048_576;

/** By id; null: there is none any more. */
export const known = signal<ReadonlyMap<string, Attachment | null>>(new Map());

export function learn(...found: readonly Attachment[]): void {
  known.value = new Map([...known.peek(), ...found.map((each) => [each.id, each] as const)]);
}

/** By chat: the ids that somebody shows and nobody knows yet. */
const wanted = new Map<string, Set<string>>();

/** Reads about these, unless it is known; `threadId` is where they are named. */
export function need(threadId: string, ids: readonly string[]): void {
  const missing = ids.filter((id) => !known.peek().has(id));
  if (missing.length === 0 || !can('attachment.list')) return;
  const open = wanted.get(threadId);
  if (open) {
    for (const id of missing) open.add(id);
    return;
  }
  wanted.set(threadId, new Set(missing));
  void readAbout(threadId)
    .catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    })
    .finally(() => wanted.delete(threadId));
}

/** One walk for all messages of a chat, also those that come into sight meanwhile. */
async function readAbout(threadId: string): Promise<void> {
  const lacks = (): string[] => [...(wanted.get(threadId) ?? [])].filter((id) => !known.peek().has(id));
  for (let cursor: string | null | undefined; cursor !== null && lacks().length > 0; ) {
    const { data } = await ask('attachment.list', { threadId, limit: LIST, ...(cursor === undefined ? {} : { cursor }) });
    learn(...data.attachments);
    cursor = data.cursor;
  }
  for (let [id] = lacks(); id !== undefined; [id] = lacks()) await lookAt(id);
}

const LISTS = 5;

/** About parts of pages, which may belong to no chat: the newest lists have most, the rest is asked for one by one. */
export async function learnParts(ids: readonly string[]): Promise<readonly Attachment[]> {
  let cursor: string | null | undefined;
  const lacks = (): readonly string[] => ids.filter((id) => !known.peek().has(id));
  for (let lists = 0; lists < LISTS && cursor !== null && lacks().length > 0; lists += 1) {
    const { data } = await ask('attachment.list', { limit: LIST, ...(cursor === undefined ? {} : { cursor }) });
    learn(...data.attachments);
    cursor = data.cursor;
  }
  for (const id of lacks()) await lookAt(id);
  return ids.flatMap((id) => known.peek().get(id) ?? []);
}

/** What belongs to no chat is in no chat's list. */
async function lookAt(id: string): Promise<void> {
  try {
    const { data } = await ask('attachment.read', { attachmentId: id, offset: 0, length: 1 });
    learn({ id, kind: data.mime.startsWith('image/') ? 'screenshot' : 'file', mime: data.mime, size: data.size, sha256: data.sha256, createdAt: 0, pinned: false });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'not_found') throw error;
    known.value = new Map([...known.peek(), [id, null]]);
  }
}

/** The quota took them. */
export function evicted(ids: readonly string[]): void {
  const next = new Map(known.peek());
  for (const id of ids) {
    const about = next.get(id);
    if (about) next.set(id, { ...about, evicted: true });
    else next.delete(id);
    drop(id);
  }
  known.value = next;
  dispatch({ type: 'toast', toast: { id: newId(), text: t('evictedToast', ids.length), kind: 'info' } });
}

/** The whole of its bytes. Raises Refusal (`not_found` once they are gone). */
export async function bytesOf(id: string): Promise<Blob> {
  const first = await range(id, 0);
  const parts: Uint8Array<ArrayBuffer>[] = [first.bytes];
  const offsets: number[] = [];
  for (let offset = first.bytes.length; offset < first.size; offset += RANGE) offsets.push(offset);
  const lane = async (): Promise<void> => {
    for (let offset = offsets.shift(); offset !== undefined; offset = offsets.shift()) {
      parts[1 + Math.floor((offset - first.bytes.length) / RANGE)] = (await range(id, offset)).bytes;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return new Blob(parts, { type: first.mime });
}

async function range(id: string, offset: number): Promise<{ bytes: Uint8Array<ArrayBuffer>; size: number; mime: string }> {
  const { data } = await ask('attachment.read', { attachmentId: id, offset, length: RANGE });
  const text = atob(data.data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return { bytes, size: data.size, mime: data.mime };
}

interface AtHand { readonly url: string; readonly size: number }
const atHand = new Map<string, Promise<AtHand>>();
const sizes = new Map<string, number>();

/** An object URL of its bytes; the ones not looked at for longest are let go. */
export async function urlOf(id: string): Promise<string> {
  const there = atHand.get(id) ?? bytesOf(id).then((blob) => ({ url: URL.createObjectURL(blob), size: blob.size }));
  atHand.delete(id);
  atHand.set(id, there);
  try {
    const { url, size } = await there;
    sizes.set(id, size);
    trim(id);
    return url;
  } catch (error) {
    if (atHand.get(id) === there) atHand.delete(id);
    throw error;
  }
}

function trim(but: string): void {
  let sum = [...sizes.values()].reduce((all, size) => all + size, 0);
  for (const id of [...atHand.keys()]) {
    if (sum <= AT_HAND) return;
    if (id === but || !sizes.has(id)) continue;
    sum -= sizes.get(id) ?? 0;
    drop(id);
  }
}

function drop(id: string): void {
  const there = atHand.get(id);
  atHand.delete(id);
  sizes.delete(id);
  void there?.then(({ url }) => URL.revokeObjectURL(url)).catch(() => undefined);
}

/** A name that every file system takes. */
export function fileName(name: string): string {
  const plain = name.replace(/[\\/:*?"<>|\u0000-\u001f]+/gu, '_').replace(/^\.+/u, '').trim();
  return cutText(plain, 120) || 'attachment';
}

export async function download(id: string, name: string): Promise<void> {
  await told(async () => {
    const link = document.createElement('a');
    link.href = await urlOf(id);
    link.download = fileName(name);
    link.click();
  });
}

export async function pinAttachment(id: string, pinned: boolean): Promise<void> {
  await told(async () => {
    await command('attachment.pin', { attachmentId: id, pinned });
    const about = known.peek().get(id);
    if (about) learn({ ...about, pinned });
  });
}

export async function deleteAttachment(id: string): Promise<boolean> {
  return told(async () => {
    await command('attachment.delete', { attachmentId: id });
    drop(id);
    known.value = new Map([...known.peek(), [id, null]]);
  });
}

async function told(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    dispatch({ type: 'toast', toast: { id: newId(), text: sentence(error.code, error.message), kind: 'error' } });
    return false;
  }
}
