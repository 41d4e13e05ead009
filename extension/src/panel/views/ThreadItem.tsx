// One thread in the list, with its state and its menu.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { deleteThread, openThread, patchThread, purgeThread, rename, restoreThread } from '../effects/actions';
import { locale, type MessageKey, t } from '../i18n';
import type { ListedThread } from '../state/shelves';
import { can, conversation } from '../store';
import { TESTID } from '../testids';
import { Menu, type MenuItem } from './Menu';
import { RenameField } from './RenameField';

const STATUSES: Readonly<Record<string, MessageKey>> = {
  running: 'statusRunning',
  needs_input: 'statusNeedsInput',
  done: 'statusDone',
  failed: 'statusFailed',
  interrupted: 'statusInterrupted',
};

export function ThreadItem({ entry }: { entry: ListedThread }): JSX.Element {
  const { thread, unsaved } = entry;
  const [renaming, setRenaming] = useState(false);
  const here = conversation.value.threadId === thread.id;
  const trashed = thread.deletedAt !== undefined;
  const status = STATUSES[thread.status];
  return (
    <li class={`thread-item ${here ? 'here' : ''}`} data-testid={TESTID.threadItem} data-thread-id={thread.id} data-status={thread.status} data-unread={thread.unread ? '1' : undefined} data-unsaved={unsaved ? '1' : undefined}>
      {renaming ? (
        <RenameField title={thread.title} onDone={(next) => {
          setRenaming(false);
          if (next !== null && next !== thread.title) rename(thread.id, next);
        }} />
      ) : (
        <button type="button" class="open" disabled={trashed} aria-current={here ? 'page' : undefined} onClick={() => openThread(thread.id)}>
          <span class="name">{thread.title || t('newChat')}</span>
          <span class="detail">
            {[unsaved ? t('notSavedShort') : '', status ? t(status) : '', when(thread.deletedAt ?? thread.updatedAt)].filter(Boolean).join(' · ')}
          </span>
          {status && <span class={`dot ${thread.status}`} aria-hidden="true" />}
        </button>
      )}
      <Menu small label={t('menuOf', thread.title || t('newChat'))} items={trashed ? trashItems(thread.id) : items(entry, () => setRenaming(true))} />
    </li>
  );
}

function items({ thread }: ListedThread, startRenaming: () => void): MenuItem[] {
  const all: MenuItem[] = [];
  if (can('thread.update')) {
    all.push({ icon: 'edit', label: t('rename'), run: startRenaming });
    all.push({ icon: 'pin', label: t(thread.pinned ? 'unpin' : 'pin'), run: () => patchThread(thread.id, { pinned: !thread.pinned }) });
    all.push({ icon: 'archive', label: t(thread.archived ? 'unarchive' : 'archive'), run: () => patchThread(thread.id, { archived: !thread.archived }) });
  }
  if (can('thread.delete')) all.push({ icon: 'trash', label: t('deleteChat'), run: () => void deleteThread(thread.id) });
  return all;
}

function trashItems(threadId: string): MenuItem[] {
  return [
    { icon: 'restore', label: t('restore'), run: () => void restoreThread(threadId) },
    { icon: 'trash', label: t('deleteForGood'), run: () => void purgeThread(threadId) },
  ];
}

/** The time today, else the day. */
function when(at: number): string {
  const today = new Date().toDateString() === new Date(at).toDateString();
  return new Intl.DateTimeFormat(locale(), today ? { timeStyle: 'short' } : { dateStyle: 'medium' }).format(at);
}
