// The kept pages, newest first: narrowed to a site, opened for reading, taken away.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Page } from '../../protocol';
import { pagesMoved } from '../effects/live';
import { askToDelete, canOpen, loadPages, narrowTo, openInTab, openOriginal, openPage, shelfOfPages } from '../effects/pages';
import { type MessageKey, t } from '../i18n';
import { can, dispatch, link } from '../store';
import { TESTID } from '../testids';
import { dateAndTime } from './dates';
import { HostStatus } from './HostStatus';
import { Icon } from './Icon';
import { Menu, type MenuItem } from './Menu';

export const siteOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

export function Pages(): JSX.Element {
  const { pages, site, state } = shelfOfPages.value;
  const ready = link.value.phase === 'ready';
  const moved = pagesMoved.value;
  useEffect(() => {
    if (ready) void loadPages(false);
  }, [ready, moved]);
  const onScroll = (event: Event): void => {
    const element = event.currentTarget as HTMLElement;
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 400) void loadPages(true);
  };
  return (
    <main class="pages" data-testid={TESTID.pages} onKeyDown={(event) => event.key === 'Escape' && dispatch({ type: 'page.shown', page: 'chat' })}>
      <header class="top-bar">
        <button type="button" class="icon-button" onClick={() => dispatch({ type: 'page.shown', page: 'chat' })} aria-label={t('back')} title={t('back')}>
          <Icon name="back" />
        </button>
        <h1 class="title">{t('keptPages')}</h1>
      </header>
      <HostStatus />
      <div class="pages-filter">
        <input class="search-field" type="search" data-testid={TESTID.pageSite} value={site} placeholder={t('pagesFilter')} aria-label={t('pagesFilter')} spellcheck={false} onInput={(event) => narrowTo(event.currentTarget.value)} />
      </div>
      <div class="items" data-testid={TESTID.pageItems} data-state={state} aria-busy={state === 'busy'} onScroll={onScroll}>
        {pages.length === 0 && <p class="hint" role="status">{t(nothing(state, site))}</p>}
        <ul>
          {pages.map((page) => (
            <PageItem key={page.id} page={page} />
          ))}
        </ul>
      </div>
    </main>
  );
}

/** Never "no pages" when we only could not look. */
function nothing(state: string, site: string): MessageKey {
  if (state === 'done') return site === '' ? 'noPages' : 'nothingHere';
  return state === 'failed' || link.value.phase === 'down' || link.value.phase === 'refused' ? 'listUnavailable' : 'loading';
}

function PageItem({ page }: { page: Page }): JSX.Element {
  return (
    <li class="thread-item page-item" data-testid={TESTID.pageItem} data-page-id={page.id}>
      <button type="button" class="open" onClick={() => openPage(page.id)}>
        <span class="name">{page.title}</span>
        <span class="detail">{[siteOf(page.url), dateAndTime(page.capturedAt)].filter(Boolean).join(' · ')}</span>
        {page.cut && <span class="detail cut">{t('pageIsCut')}</span>}
      </button>
      <Menu small label={t('menuOf', page.title)} items={itemsOf(page)} />
    </li>
  );
}

export function itemsOf(page: Page): MenuItem[] {
  const items: MenuItem[] = [{ icon: 'tab', label: t('openInTab'), run: () => openInTab(page.id) }];
  if (canOpen(page.url)) items.push({ icon: 'external', label: t('openOriginal'), run: () => openOriginal(page.url) });
  if (can('page.delete')) items.push({ icon: 'trash', label: t('deletePage'), run: () => askToDelete(page), separated: true });
  return items;
}
