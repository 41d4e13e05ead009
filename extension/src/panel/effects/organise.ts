// Order in the list: pins, folders, tags.
import { newId } from '../../ids';
import { cutText } from '../../text';
import { t } from '../i18n';
import { dispatch, filter, folders } from '../store';
import { tell, toast } from './actions';
import { loadFolders } from './lists';
import { ask, command, commands, make, quietly } from './session';

export const LONGEST_TAG = 60;

export function pin(threadId: string, pinned: boolean): void {
  void tell(command('thread.update', { threadId, patch: { pinned } }));
}

/** Null takes it out of its folder. */
export function moveTo(threadId: string, folderId: string | null): void {
  void tell(command('thread.update', { threadId, patch: { folderId } }));
}

/** Makes the folder and puts the thread into it, or only uses the one that has that name already. */
export function moveToNew(threadId: string, name: string): void {
  const known = folders.peek().find((folder) => sameWord(folder.name, name));
  if (known) {
    moveTo(threadId, known.id);
    return;
  }
  const folderId = newId();
  const both = commands([
    make('folder.save', { folder: { id: folderId, name } }),
    make('thread.update', { threadId, patch: { folderId } }),
  ]);
  void tell(both.then((answers) => Promise.all(answers))).then(loadFolders);
}

export function saveFolder(folderId: string | null, name: string): void {
  const id = folderId ?? newId();
  void tell(command('folder.save', { folder: { id, name } })).then(loadFolders);
}

export function deleteFolder(folderId: string): void {
  void tell(command('folder.delete', { folderId })).then(async (done) => {
    if (done && filter.peek().folderId === folderId) dispatch({ type: 'filter.chosen', filter: {} });
    if (done) toast(t('folderDeleted'));
    await loadFolders();
  });
}

export function setTags(threadId: string, tags: readonly string[]): void {
  void tell(command('thread.update', { threadId, patch: { tags: [...tags] } }));
}

const sameWord = (one: string, other: string): boolean => one.localeCompare(other, undefined, { sensitivity: 'base' }) === 0;

/** The tags with `text` among them; words between commas are several. */
export function withTags(tags: readonly string[], text: string): string[] {
  const all = [...tags];
  for (const part of text.split(/[,，、]/u)) {
    const word = cutText(part.replace(/^#+/, '').replace(/\s+/gu, ' ').trim(), LONGEST_TAG).toWellFormed();
    if (word !== '' && !all.some((tag) => sameWord(tag, word))) all.push(word);
  }
  return all;
}

/** How many threads lie in a folder, the archived ones too; null when there is nobody to ask. */
export async function countIn(folderId: string): Promise<number | null> {
  let count: number | null = null;
  await quietly(async () => {
    const { data } = await ask('thread.list', { folderId, archived: 'all', withTotal: true, limit: 1 });
    count = data.total ?? null;
  });
  return count;
}
