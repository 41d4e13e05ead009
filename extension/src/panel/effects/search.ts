// Search over everything that is kept: asks while somebody types, pages on, and goes to what was found.
import { signal } from '@preact/signals';
import type { SearchHit, Wanted } from '../../protocol';
import { t } from '../i18n';
import { conversation, dispatch } from '../store';
import { openThread, toast } from './actions';
import { openPage } from './pages';
import { goTo } from './jump';
import { ask, Refusal } from './session';
import { sentence } from './sentences';

export type Where = 'all' | 'messages' | 'pages' | 'titles';

export interface Question {
  readonly text: string;
  readonly where: Where;
  /** Only in this chat. */
  readonly threadId: string | null;
  readonly site: string;
  /** Days as `YYYY-MM-DD` of this place; empty: open. */
  readonly since: string;
  readonly until: string;
}

export interface Found {
  readonly state: 'idle' | 'busy' | 'done' | 'failed';
  readonly hits: readonly SearchHit[];
  readonly cursor: string | null;
  /** What the hits answer. */
  readonly text: string;
  readonly problem: string;
}

export const NO_QUESTION: Question = { text: '', where: 'all', threadId: null, site: '', since: '', until: '' };
const NOTHING: Found = { state: 'idle', hits: [], cursor: null, text: '', problem: '' };
export const question = signal<Question>(NO_QUESTION);
export const found = signal<Found>(NOTHING);

const HITS = 30;
const SETTLE = 180;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

export function wonder(change: Partial<Question>): void {
  question.value = { ...question.peek(), ...change };
  clearTimeout(timer);
  // A search that is under way answers an older question.
  asked += 1;
  if (question.peek().text.trim() === '') {
    found.value = NOTHING;
    return;
  }
  timer = setTimeout(() => void look(), SETTLE);
}

/** At once, for Enter. */
export function lookNow(): void {
  clearTimeout(timer);
  if (question.peek().text.trim() !== '') void look();
}

export async function more(): Promise<void> {
  const { cursor, state } = found.peek();
  if (cursor !== null && state === 'done') await look(cursor);
}

async function look(cursor?: string): Promise<void> {
  asked += 1;
  const mine = asked;
  const wanted = wantedOf(question.peek());
  found.value = { ...found.peek(), state: 'busy', problem: '' };
  try {
    const { data } = await ask('thread.search', { ...wanted, limit: HITS, ...(cursor === undefined ? {} : { cursor }) });
    if (mine !== asked) return;
    const before = cursor === undefined ? [] : found.peek().hits;
    found.value = { state: 'done', hits: [...before, ...data.hits], cursor: data.cursor, text: wanted.query, problem: '' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (mine === asked) found.value = { ...found.peek(), state: 'failed', problem: sentence(error.code, error.message) };
  }
}

export function wantedOf({ text, where, threadId, site, since, until }: Question): Wanted<'thread.search'> {
  return {
    query: text.trim(),
    ...(where === 'all' ? {} : { in: [where] }),
    ...(threadId === null ? {} : { threadId }),
    ...(site.trim() === '' ? {} : { site: site.trim() }),
    ...(since === '' ? {} : { since: startOf(since) }),
    ...(until === '' ? {} : { until: startOf(until, 1) - 1 }),
  };
}

/** The first moment of a day here, or of one some days on (a day may have 23 hours). */
function startOf(day: string, on = 0): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + on).getTime();
}

export function openSearch(): void {
  dispatch({ type: 'page.shown', page: 'search' });
}

export function openHit({ threadId, nodeId, pageId }: SearchHit): void {
  if (pageId !== undefined) openPage(pageId);
  else if (threadId !== undefined && nodeId !== undefined) void goTo(threadId, nodeId).then((there) => there || toast(t('hitGone'), 'error'));
  else if (threadId !== undefined) openThread(threadId);
}

/** The chat on show, where the search can stay. */
export const hereId = (): string | null => (conversation.value.loaded ? conversation.value.threadId : null);
