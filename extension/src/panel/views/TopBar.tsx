// The bar above a conversation: list, title, what is not saved, new chat, menu.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { newChat, rename } from '../effects/actions';
import { askToKeep } from '../effects/keeping';
import { pin } from '../effects/organise';
import { archive, deleteThread } from '../effects/removal';
import { openKeptPages } from '../effects/pages';
import { openSearch } from '../effects/search';
import { t } from '../i18n';
import { unsaved } from '../state/pending';
import { withPending } from '../state/shelves';
import { can, conversation, dispatch, page, pending, shownId, thread } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';
import { Menu, type MenuItem } from './Menu';
import { RenameField } from './RenameField';

export function TopBar(): JSX.Element {
  const [renaming, setRenaming] = useState(false);
  const meta = thread.value && withPending(thread.value, pending.value).thread;
  const threadId = shownId.value;
  const title = meta?.title || t('newChat');
  return (
    <header class="top-bar">
      <button type="button" class="icon-button open-threads" data-testid={TESTID.openThreads} onClick={() => dispatch({ type: 'page.shown', page: 'threads' })} aria-label={t('openList')} title={t('openList')} aria-expanded={page.value === 'threads'}>
        <Icon name="menu" />
      </button>
      {renaming && meta ? (
        <RenameField title={meta.title} onDone={(next) => {
          setRenaming(false);
          if (next !== null && next !== meta.title) rename(threadId, next);
        }} />
      ) : (
        <h1 class="title" data-testid={TESTID.threadTitle} title={title} onDblClick={() => meta && setRenaming(true)}>
          {title}
        </h1>
      )}
      <UnsavedBadge />
      <button type="button" class="icon-button" data-testid={TESTID.newThread} onClick={newChat} aria-label={t('newChat')} title={t('newChat')}>
        <Icon name="plus" />
      </button>
      <Menu label={t('menu')} items={items(() => setRenaming(true))} />
    </header>
  );
}

function items(startRenaming: () => void): MenuItem[] {
  const meta = thread.value;
  const own: MenuItem[] = [];
  if (meta && can('thread.update')) {
    own.push({ icon: 'edit', label: t('rename'), run: startRenaming });
    own.push({ icon: 'pin', label: t(meta.pinned ? 'unpin' : 'pin'), run: () => pin(meta.id, !meta.pinned) });
    own.push({ icon: 'folder', label: t('organise'), run: () => show('organise', meta.id) });
    own.push({ icon: 'archive', label: t(meta.archived ? 'unarchive' : 'archive'), run: () => void archive(meta.id, !meta.archived) });
  }
  if (meta && can('branch.list')) own.push({ icon: 'fork', label: t('branchesOfChat'), run: () => show('branches', meta.id) });
  if (meta && can('session.commits')) own.push({ icon: 'library', label: t('history'), run: () => show('history', meta.id), testId: TESTID.menuHistory });
  if (meta && can('thread.delete')) own.push({ icon: 'trash', label: t('deleteChat'), run: () => void deleteThread(meta.id) });
  if (can('page.capture')) own.push({ icon: 'page', label: t('keepPage'), run: () => askToKeep(), testId: TESTID.keepPage, separated: own.length > 0 });
  if (can('thread.search')) own.push({ icon: 'search', label: t('search'), run: openSearch, testId: TESTID.menuSearch });
  if (can('page.list')) own.push({ icon: 'library', label: t('keptPages'), run: openKeptPages, testId: TESTID.menuPages });
  own.push({ icon: 'tab', label: t('openInTab'), run: openInTab });
  own.push({ icon: 'gear', label: t('settings'), run: () => dispatch({ type: 'page.shown', page: 'settings' }), testId: TESTID.menuSettings });
  return own;
}

function show(kind: 'organise' | 'branches' | 'history', threadId: string): void {
  dispatch({ type: 'dialog', dialog: { kind, threadId } });
}

function openInTab(): void {
  const { threadId, loaded } = conversation.peek();
  const place = loaded ? `#thread=${threadId}` : '';
  void chrome.tabs.create({ url: chrome.runtime.getURL(`sidepanel.html?tab${place}`) });
}

function UnsavedBadge(): JSX.Element | null {
  const count = unsaved(pending.value);
  if (count === 0) return null;
  return (
    <span class="unsaved-badge" data-testid={TESTID.unsavedBadge} data-count={count} role="status" title={t('unsavedTitle', count)}>
      {t('unsaved', count)}
    </span>
  );
}
