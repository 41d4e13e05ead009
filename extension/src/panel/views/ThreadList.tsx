// The list of threads: active, archived, trash; a drawer in the narrow panel, a column in the wide one.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { newChat } from '../effects/actions';
import { loadList } from '../effects/lists';
import { openKeptPages } from '../effects/pages';
import { openSearch } from '../effects/search';
import { type MessageKey, t } from '../i18n';
import type { Shelf } from '../state/model';
import type { Group } from '../state/shelves';
import { can, dispatch, filter, link, lists, page, shelf, shown } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';
import { ListFilter } from './ListFilter';
import { ThreadItem } from './ThreadItem';

const GROUPS: Readonly<Record<Group, MessageKey>> = {
  pinned: 'groupPinned',
  today: 'groupToday',
  yesterday: 'groupYesterday',
  week: 'groupWeek',
  older: 'groupOlder',
};
const SHELVES: readonly (readonly [Shelf, MessageKey])[] = [
  ['active', 'shelfActive'],
  ['archived', 'shelfArchived'],
  ['trash', 'shelfTrash'],
];

const close = (): void => dispatch({ type: 'page.shown', page: 'chat' });

export function ThreadList({ wide }: { wide: boolean }): JSX.Element {
  const open = wide || page.value === 'threads';
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!wide && page.value === 'threads') root.current?.querySelector<HTMLElement>('button')?.focus();
  }, [wide, page.value]);
  return (
    <>
      {!wide && open && <div class="scrim" onClick={close} />}
      <nav
        ref={root}
        class="thread-list"
        data-testid={TESTID.threadList}
        data-open={open ? '1' : '0'}
        inert={!open}
        aria-label={t('chats')}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !wide) close();
        }}
      >
        <header class="top-bar">
          {!wide && (
            <button type="button" class="icon-button" onClick={close} aria-label={t('closeList')}>
              <Icon name="back" />
            </button>
          )}
          <h1 class="title">{t('chats')}</h1>
          <button type="button" class="icon-button" onClick={newChat} aria-label={t('newChat')} title={t('newChat')}>
            <Icon name="plus" />
          </button>
          {can('thread.search') && (
            <button type="button" class="icon-button" data-testid={TESTID.openSearch} onClick={openSearch} aria-label={t('search')} title={t('searchTitle')} aria-keyshortcuts="Control+K Meta+K">
              <Icon name="search" />
            </button>
          )}
          {can('page.list') && (
            <button type="button" class="icon-button" data-testid={TESTID.openPages} onClick={openKeptPages} aria-label={t('keptPages')} title={t('keptPages')}>
              <Icon name="library" />
            </button>
          )}
          <button type="button" class="icon-button" data-testid={TESTID.openSettings} onClick={() => dispatch({ type: 'page.shown', page: 'settings' })} aria-label={t('settings')} title={t('settings')}>
            <Icon name="gear" />
          </button>
        </header>
        <Shelves />
        <ListFilter />
        <Items />
      </nav>
    </>
  );
}

function Shelves(): JSX.Element {
  const offered = SHELVES.filter(([name]) => name !== 'trash' || can('thread.restore'));
  return (
    <div class="shelves" role="group" aria-label={t('shelves')}>
      {offered.map(([name, label]) => (
        <button key={name} type="button" data-testid={TESTID.shelf} data-shelf={name} aria-pressed={shelf.value === name} onClick={() => dispatch({ type: 'shelf.shown', shelf: name })}>
          {t(label)}
        </button>
      ))}
    </div>
  );
}

function Items(): JSX.Element {
  const list = lists.value[shelf.value];
  const sections = shown.value;
  const onScroll = (event: Event): void => {
    const element = event.currentTarget as HTMLElement;
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 400) void loadList(shelf.value, true);
  };
  return (
    <div class="items" onScroll={onScroll}>
      {sections.length === 0 && <p class="hint">{t(nothing(list.loaded))}</p>}
      {sections.map(({ group, threads }) => (
        <section key={group} aria-label={t(GROUPS[group])}>
          <h2>{t(GROUPS[group])}</h2>
          <ul>
            {threads.map((entry) => (
              <ThreadItem key={entry.thread.id} entry={entry} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** Never "no chats" when we only could not look. */
function nothing(loaded: boolean): MessageKey {
  const narrowed = filter.value.folderId !== undefined || filter.value.tag !== undefined;
  if (loaded && narrowed) return 'nothingHere';
  if (loaded) return shelf.value === 'trash' ? 'trashEmpty' : shelf.value === 'archived' ? 'archiveEmpty' : 'noChats';
  return link.value.phase === 'down' || link.value.phase === 'refused' ? 'listUnavailable' : 'loading';
}
