// Search over messages, titles and kept pages: results while you type, narrowed by kind, chat, site and day.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchHit } from '../../protocol';
import { found, hereId, lookNow, more, openHit, question, type Where, wonder } from '../effects/search';
import { type MessageKey, t } from '../i18n';
import { marked } from '../state/snippet';
import { dispatch } from '../store';
import { TESTID } from '../testids';
import { shortDate } from './dates';
import { HostStatus } from './HostStatus';
import { Icon } from './Icon';

const WHERES: readonly (readonly [Where, MessageKey])[] = [
  ['all', 'searchAll'],
  ['messages', 'searchMessages'],
  ['pages', 'searchPages'],
  ['titles', 'searchTitles'],
];

const leave = (): void => dispatch({ type: 'page.shown', page: 'chat' });

export function Search(): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const root = useRef<HTMLElement>(null);
  useEffect(() => field.current?.select(), []);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === 'Escape') leave();
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const at = event.target as HTMLElement;
    const hits = [...(root.current?.querySelectorAll<HTMLElement>('.hit') ?? [])];
    const index = hits.indexOf(at);
    // Dates and choices have arrows of their own.
    if (index < 0 && at !== field.current) return;
    event.preventDefault();
    const to = event.key === 'ArrowDown' ? index + 1 : index - 1;
    (to < 0 ? field.current : hits[Math.min(to, hits.length - 1)])?.focus();
  };

  return (
    <main ref={root} class="search" data-testid={TESTID.search} onKeyDown={onKeyDown}>
      <header class="top-bar">
        <button type="button" class="icon-button" onClick={leave} aria-label={t('back')} title={t('back')}>
          <Icon name="back" />
        </button>
        <h1 class="sr-only">{t('search')}</h1>
        <input
          ref={field}
          class="search-field"
          type="search"
          data-testid={TESTID.searchField}
          value={question.value.text}
          placeholder={t('searchPlaceholder')}
          aria-label={t('searchPlaceholder')}
          dir="auto"
          onInput={(event) => wonder({ text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.isComposing) lookNow();
          }}
        />
      </header>
      <HostStatus />
      <Filters />
      <Results />
    </main>
  );
}

function Filters(): JSX.Element {
  const { where, threadId, site, since, until } = question.value;
  const narrowed = site !== '' || since !== '' || until !== '';
  const [open, setOpen] = useState(narrowed);
  const here = hereId();
  return (
    <div class="search-filters">
      <div class="shelves" role="group" aria-label={t('searchWhere')}>
        {WHERES.map(([value, label]) => (
          <button key={value} type="button" aria-pressed={where === value} data-testid={TESTID.searchWhere} data-where={value} onClick={() => wonder({ where: value })}>
            {t(label)}
          </button>
        ))}
        <button type="button" class="icon-button small" aria-expanded={open} data-active={narrowed || threadId !== null ? '1' : undefined} data-testid={TESTID.searchFilters} aria-label={t('searchFilters')} title={t('searchFilters')} onClick={() => setOpen(!open)}>
          <Icon name="filter" size={16} />
        </button>
      </div>
      {open && (
        <div class="search-more">
          {here !== null && (
            <label class="check">
              <input type="checkbox" checked={threadId !== null} onChange={(event) => wonder({ threadId: event.currentTarget.checked ? here : null })} /> {t('searchThisChat')}
            </label>
          )}
          <label class="field">
            <span>{t('site')}</span>
            <input value={site} placeholder="example.org" spellcheck={false} data-testid={TESTID.searchSite} onInput={(event) => wonder({ site: event.currentTarget.value })} />
          </label>
          <div class="field-row">
            <label class="field">
              <span>{t('searchSince')}</span>
              <input type="date" value={since} max={until || undefined} onInput={(event) => wonder({ since: event.currentTarget.value })} />
            </label>
            <label class="field">
              <span>{t('searchUntil')}</span>
              <input type="date" value={until} min={since || undefined} onInput={(event) => wonder({ until: event.currentTarget.value })} />
            </label>
          </div>
        </div>
      )}
    </div>
  );
}

function Results(): JSX.Element {
  const { hits, state, problem, cursor } = found.value;
  const onScroll = (event: Event): void => {
    const element = event.currentTarget as HTMLElement;
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 400) void more();
  };
  return (
    <div class="hits" data-testid={TESTID.searchHits} data-state={state} aria-busy={state === 'busy'} onScroll={onScroll}>
      <p class={state === 'failed' ? 'hint problem' : 'hint'} role="status">
        {said(state, hits.length, problem, cursor !== null)}
      </p>
      <ul>
        {hits.map((hit) => (
          <li key={hit.nodeId ?? hit.pageId ?? hit.threadId}>
            <Hit hit={hit} />
          </li>
        ))}
      </ul>
      {cursor !== null && state === 'done' && (
        <button type="button" class="button" onClick={() => void more()}>
          {t('searchMore')}
        </button>
      )}
    </div>
  );
}

function said(state: string, count: number, problem: string, goesOn: boolean): string {
  if (state === 'failed') return problem;
  if (state === 'idle') return t('searchHint');
  if (state === 'busy' && count === 0) return t('searching');
  if (count === 0) return t('searchNothing');
  return t(goesOn ? 'searchManyHits' : 'searchHits', count);
}

function Hit({ hit }: { hit: SearchHit }): JSX.Element {
  const kind = hit.pageId !== undefined ? 'page' : hit.nodeId !== undefined ? 'message' : 'title';
  return (
    <button type="button" class="hit" data-testid={TESTID.searchHit} data-kind={kind} data-node-id={hit.nodeId} data-page-id={hit.pageId} data-thread-id={hit.threadId} onClick={() => openHit(hit)}>
      <span class="hit-head">
        <Icon name={kind === 'page' ? 'page' : 'chat'} size={15} />
        <span class="chip-name">{kind === 'title' ? <Marked text={hit.snippet || hit.title} /> : hit.title || t('newChat')}</span>
        <time class="hit-when" dateTime={new Date(hit.ts).toISOString()}>
          {shortDate(hit.ts)}
        </time>
      </span>
      {kind !== 'title' && (
        <span class="snippet" dir="auto">
          <Marked text={hit.snippet} />
        </span>
      )}
      {kind === 'title' && <span class="sr-only">{t('searchTitles')}</span>}
    </button>
  );
}

function Marked({ text }: { text: string }): JSX.Element {
  return <>{marked(text).map((piece, at) => (piece.hit ? <mark key={at}>{piece.text}</mark> : piece.text))}</>;
}
