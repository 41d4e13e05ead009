// One thread in the list, with its state and its menu.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { openThread, rename } from '../effects/actions';
import { pin } from '../effects/organise';
import { archive, deleteThread, restoreThread } from '../effects/removal';
import { type MessageKey, t } from '../i18n';
import type { ThreadMeta } from '../../protocol';
import type { ListedThread } from '../state/shelves';
import { can, dispatch, filter, folders, shownId } from '../store';
import { TESTID } from '../testids';
import { shortDate } from './dates';
import { Icon } from './Icon';
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
  const here = shownId.value === thread.id;
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
            {[unsaved ? t('notSavedShort') : '', status ? t(status) : '', shortDate(thread.deletedAt ?? thread.updatedAt)].filter(Boolean).join(' · ')}
          </span>
          <Labels thread={thread} />
          {status && <span class={`dot ${thread.status}`} aria-hidden="true" />}
        </button>
      )}
      <Menu small label={t('menuOf', thread.title || t('newChat'))} items={trashed ? trashItems(thread.id) : items(entry, () => setRenaming(true))} />
    </li>
  );
}

/** Its folder and tags, except the one that the whole list has in common. */
function Labels({ thread }: { thread: ThreadMeta }): JSX.Element | null {
  const { folderId, tag } = filter.value;
  const folder = folders.value.find((each) => each.id === thread.folderId && each.id !== folderId);
  const tags = thread.tags.filter((each) => each !== tag);
  if (!folder && tags.length === 0) return null;
  return (
    <span class="labels">
      {folder && (
        <span class="label">
          <Icon name="folder" size={12} /> {folder.name}
        </span>
      )}
      {tags.map((each) => (
        <span key={each} class="label">{`#${each}`}</span>
      ))}
    </span>
  );
}

function items({ thread }: ListedThread, startRenaming: () => void): MenuItem[] {
  const all: MenuItem[] = [];
  if (can('thread.update')) {
    all.push({ icon: 'edit', label: t('rename'), run: startRenaming });
    all.push({ icon: 'pin', label: t(thread.pinned ? 'unpin' : 'pin'), run: () => pin(thread.id, !thread.pinned) });
    all.push({ icon: 'folder', label: t('organise'), run: () => dispatch({ type: 'dialog', dialog: { kind: 'organise', threadId: thread.id } }) });
    all.push({ icon: 'archive', label: t(thread.archived ? 'unarchive' : 'archive'), run: () => void archive(thread.id, !thread.archived) });
  }
  if (can('thread.delete')) all.push({ icon: 'trash', label: t('deleteChat'), run: () => void deleteThread(thread.id) });
  return all;
}

function trashItems(threadId: string): MenuItem[] {
  return [
    { icon: 'restore', label: t('restore'), run: () => void restoreThread(threadId) },
    { icon: 'trash', label: t('deleteForGood'), run: () => dispatch({ type: 'dialog', dialog: { kind: 'purge', threadId } }) },
  ];
}
