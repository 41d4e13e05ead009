// The conversation: virtual rows, older ones paged in from above, the newest kept in sight.
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { sight } from '../effects/jump';
import { loadOlder } from '../effects/live';
import { t } from '../i18n';
import type { Row } from '../state/rows';
import { conversation, rows, shownId } from '../store';
import { EndedCard, QueuedCard, RecoveryCard } from './Cards';
import { EmptyChat, MissingChat } from './EmptyChat';
import { Icon } from './Icon';
import { later } from './later';
import { Message } from './Message';
import { isNear, movedUp, type Standing, watchHands } from './stickiness';

const ApprovalCard = later(async () => (await import('./ApprovalCard')).ApprovalCard);
const InteractionCard = later(async () => (await import('./InteractionCard')).InteractionCard);

const PAGE_AHEAD = 600;
/** Drawn beyond the window on each side: quick scrolling meets no empty rows. */
const AHEAD = 600;

const stage = computed((): 'rows' | 'missing' | 'empty' | 'waiting' => {
  if (rows.value.length > 0) return 'rows';
  const { missing, loaded, loading } = conversation.value;
  if (missing) return 'missing';
  return loaded || !loading ? 'empty' : 'waiting';
});

export function Conversation(): JSX.Element {
  switch (stage.value) {
    case 'rows':
      return <Rows key={shownId.value} />;
    case 'missing':
      return <MissingChat />;
    case 'empty':
      return <EmptyChat />;
    case 'waiting':
      return <div class="stream" />;
  }
}

function Rows(): JSX.Element {
  const shown = rows.value;
  const { before, paging } = conversation.value;
  const list = useRef<VirtualizerHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  /** How the scroller last stood. */
  const left = useRef<Standing>({ offset: 0, size: 0, window: 0 });
  const handsOn = useRef<() => boolean>(() => false);
  useEffect(() => {
    if (!scroller.current) return;
    const watch = watchHands(scroller.current);
    handsOn.current = watch.handsOn;
    return watch.stop;
  }, []);
  const [away, setAway] = useState(false);
  const first = useRef(shown[0]?.key);
  const prepended = first.current !== undefined && shown[0]?.key !== first.current && shown.some((row) => row.key === first.current);
  useLayoutEffect(() => {
    first.current = shown[0]?.key;
  }, [shown]);

  // The list's own way to an index goes on for a while, and would pull down whoever scrolls up meanwhile.
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    left.current = standing(element);
  }, []);
  const stayAtEnd = useCallback(() => {
    const element = scroller.current;
    if (!element || !stuck.current) return;
    // Somebody may have scrolled up, and the event of it has not come yet.
    if (!movedUp(left.current, standing(element), handsOn.current())) toEnd();
  }, [toEnd]);
  useLayoutEffect(stayAtEnd, [shown, stayAtEnd]);

  // A message of one's own is always worth seeing.
  const mine = shown.at(-1)?.kind === 'message' && shown.at(-1)?.key;
  const lastIsMine = isOwn(shown.at(-1));
  useEffect(() => {
    if (!lastIsMine) return;
    stuck.current = true;
    toEnd();
  }, [mine, lastIsMine, toEnd]);

  // A message that somebody went to from a search.
  const wanted = sight.value;
  const [foundId, setFoundId] = useState<string | null>(null);
  useLayoutEffect(() => {
    const index = shown.findIndex((row) => row.kind === 'message' && row.node?.id === wanted?.nodeId);
    if (!wanted || index < 0) return;
    sight.value = null;
    stuck.current = false;
    setAway(true);
    setFoundId(wanted.nodeId);
    list.current?.scrollToIndex(index, { align: 'center' });
    scroller.current?.focus({ preventScroll: true });
  }, [wanted, shown]);

  const onScroll = useCallback((offset: number) => {
    const element = scroller.current;
    if (!element) return;
    const now = standing(element);
    if (stuck.current && !isNear(now) && !movedUp(left.current, now, handsOn.current())) {
      // The rows have grown beneath it.
      toEnd();
      return;
    }
    stuck.current = isNear(now);
    left.current = now;
    setAway(!stuck.current);
    if (offset < PAGE_AHEAD && !stuck.current) void loadOlder();
  }, [toEnd]);

  return (
    <div class="stream">
      {before !== null && (
        <p class="older" aria-hidden={!paging}>
          {paging ? t('loadingOlder') : ''}
        </p>
      )}
      <div ref={scroller} class="rows" role="log" aria-live="off" aria-label={t('conversation')} tabIndex={0}>
        <Virtualizer ref={list} data={shown} bufferSize={AHEAD} shift={prepended} onScroll={onScroll} onResize={stayAtEnd}>
          {(row: Row) => (
            <div key={row.key} class={isFound(row, foundId) ? 'row found' : 'row'}>
              <RowView row={row} />
            </div>
          )}
        </Virtualizer>
      </div>
      {away && (
        <button
          type="button"
          class="to-end"
          aria-label={t('toNewest')}
          onClick={() => {
            stuck.current = true;
            toEnd();
          }}
        >
          <span class="down">
            <Icon name="next" />
          </span>
        </button>
      )}
    </div>
  );
}

function standing(element: HTMLElement): Standing {
  return { offset: element.scrollTop, size: element.scrollHeight, window: element.clientHeight };
}

function isFound(row: Row, nodeId: string | null): boolean {
  return nodeId !== null && row.kind === 'message' && row.node?.id === nodeId;
}

function isOwn(row: Row | undefined): boolean {
  return row?.kind === 'message' && row.pending !== undefined;
}

function RowView({ row }: { row: Row }): JSX.Element {
  switch (row.kind) {
    case 'message':
      return <Message row={row} />;
    case 'recovery':
      return <RecoveryCard run={row.run} />;
    case 'ended':
      return <EndedCard ended={row.ended} />;
    case 'queued':
      return <QueuedCard run={row.run} place={row.place} />;
    case 'approval':
      return <ApprovalCard approval={row.approval} />;
    case 'interaction':
      return <InteractionCard interaction={row.interaction} />;
    case 'thinking':
      return (
        <p class="thinking" data-testid="thinking">
          <span /> <span /> <span />
          <span class="sr-only">{t('thinking')}</span> {retrying(row.progress)}
        </p>
      );
  }
}

/** An endpoint that could not answer is asked again. */
function retrying(progress: unknown): string {
  const { note, done, total } = (progress ?? {}) as { note?: string; done?: number; total?: number };
  return note === 'retrying' ? t('retrying', done ?? 0, total ?? 0) : '';
}
