// A turn on the screen: pieces in order, once each, whatever was missed or comes twice.
import { describe, expect, test } from 'vitest';
import type { PanelEvent } from '../../src/panel/state/events';
import type { PanelState } from '../../src/panel/state/model';
import { rowsOf } from '../../src/panel/state/rows';
import { after, answer, host, id, path, RUN, showing, snapshot, THREAD, TURN, user } from '../support/make';
import { below, random } from '../support/random';

const start = (turnKind = 'turn'): PanelEvent =>
  host({ type: 'turn.start', threadId: THREAD, turnId: TURN, runId: RUN, turnKind, steerable: false });
const begin = (itemId: string): PanelEvent =>
  host({ type: 'item.start', threadId: THREAD, turnId: TURN, itemId, kind: 'assistant_message', meta: {} });
const piece = (seq: number, text: string, itemId = 'item-1'): PanelEvent =>
  host({ type: 'item.delta', threadId: THREAD, turnId: TURN, itemId, seq, delta: { text } });
const complete = (nodeId?: string, itemId = 'item-1'): PanelEvent =>
  host({ type: 'item.complete', threadId: THREAD, turnId: TURN, itemId, ...(nodeId === undefined ? {} : { nodeId }) });
const node = (written: ReturnType<typeof answer>): PanelEvent => host({ type: 'thread.node', threadId: THREAD, node: written });
const end = (stopReason: 'end' | 'interrupted' | 'error' = 'end'): PanelEvent =>
  host({ type: 'turn.complete', threadId: THREAD, turnId: TURN, stopReason });

const textOf = (state: PanelState): string => state.conversation.items.map((item) => item.text).join('|');
const shown = (state: PanelState): string[] =>
  rowsOf(state.conversation, state.pending).map((row) => (row.kind === 'message' ? `${row.state}:${row.text}` : row.kind));

describe('an answer as it is written', () => {
  const asked = showing(path(1));

  test('a turn without a word yet shows that it is being prepared', () => {
    expect(shown(after(asked, start(), begin('item-1')))).toEqual(['saved:Q1', 'thinking']);
  });

  test('pieces are put together in their order', () => {
    const state = after(asked, start(), begin('item-1'), piece(0, 'The '), piece(1, 'tide '), piece(2, 'turns'));
    expect(shown(state)).toEqual(['saved:Q1', 'streaming:The tide turns']);
  });

  test('E36: a piece that comes again, or an older one, changes nothing', () => {
    const state = after(asked, start(), begin('item-1'), piece(0, 'a'), piece(1, 'b'));
    expect(after(state, piece(1, 'b'), piece(0, 'a'))).toBe(state);
  });

  test('E38: after a gap the snapshot is asked for, and what it holds is not doubled by pieces already in it', () => {
    const missed = after(asked, piece(7, 'lost beginning'));
    expect(missed.conversation.stale).toBe(true);
    expect(missed.conversation.items).toEqual([]);
    const items = [{ itemId: 'item-1', kind: 'assistant_message', text: 'The tide ', seq: 7 }] as const;
    const activeTurn = { runId: RUN, turnId: TURN, state: 'streaming_model', items: [...items] } as const;
    const back = after(
      missed,
      { type: 'snapshot.asked' },
      { type: 'snapshot', snapshot: snapshot(path(1), { activeTurn: { ...activeTurn, items: [...items] } }) },
      piece(6, 'tide '),
      piece(7, 'tide '),
      piece(8, 'turns'),
    );
    expect(textOf(back)).toBe('The tide turns');
  });

  test('E38: a snapshot that is older than the pieces already shown takes nothing away', () => {
    const ahead = after(asked, start(), begin('item-1'), piece(0, 'ab'), piece(1, 'cd'));
    const items = [{ itemId: 'item-1', kind: 'assistant_message' as const, text: 'ab', seq: 0 }];
    const activeTurn = { runId: RUN, turnId: TURN, state: 'streaming_model' as const, items };
    const state = after(ahead, { type: 'snapshot', snapshot: snapshot(path(1), { activeTurn }) }, piece(2, 'ef'));
    expect(textOf(state)).toBe('abcdef');
  });

  test('the node takes the place of the item under the same key, whichever is told first', () => {
    const written = answer(2, 1, 'The tide turns');
    const growing = after(asked, start(), begin('item-1'), piece(0, 'The tide turns'));
    const first = after(growing, node(written), complete(id(2)), end());
    const second = after(growing, complete(id(2)), node(written), end());
    for (const state of [first, second]) {
      const rows = rowsOf(state.conversation, state.pending);
      expect(rows.map((row) => row.key)).toEqual([id(1), 'item-1']);
      expect(shown(state)).toEqual(['saved:Q1', 'final:The tide turns']);
      expect(state.conversation.stale).toBe(false);
    }
  });

  test('an item whose node has not come stays on show, and the end asks for the snapshot', () => {
    const state = after(asked, start(), begin('item-1'), piece(0, 'words'), complete(id(2)), end());
    expect(shown(state)).toEqual(['saved:Q1', 'streaming:words']);
    expect(state.conversation.stale).toBe(true);
  });

  test('an item that completes without a node goes', () => {
    expect(after(asked, start(), begin('item-1'), piece(0, 'x'), complete()).conversation.items).toEqual([]);
  });

  test('a turn that starts once more (its runner died) says everything anew', () => {
    const state = after(
      asked, start(), begin('item-1'), piece(0, 'half an ans'), start(), begin('item-2'), piece(0, 'whole', 'item-2'),
    );
    expect(textOf(state)).toBe('whole');
  });

  test('a fork is looked at again when it ends: only the host knows its siblings', () => {
    const linear = after(asked, start(), begin('item-1'), piece(0, 'x'), node(answer(2, 1, 'x')), complete(id(2)), end());
    const again = after(asked, start('regenerate'), begin('item-1'), piece(0, 'x'), node(answer(2, 1, 'x')), complete(id(2)), end());
    expect([linear.conversation.stale, again.conversation.stale]).toEqual([false, true]);
  });

  test('the end of another turn does not end this one', () => {
    const running = after(asked, start());
    const other = host({ type: 'turn.complete', threadId: THREAD, turnId: 'other', stopReason: 'end' });
    expect(after(running, other).conversation.turn).toEqual(running.conversation.turn);
  });

  test('E39: a run whose runner died is not shown as running: the snapshot is asked for', () => {
    const dead = host({ type: 'thread.updated', threadId: THREAD, revision: 2, patch: { status: 'interrupted' } });
    expect(after(asked, start(), dead).conversation.stale).toBe(true);
  });

  test('an error without any text has a card of its own, one with text is told by its message', () => {
    const failed = host({
      type: 'turn.complete', threadId: THREAD, turnId: TURN, stopReason: 'error', error: { code: 'provider_auth', message: '401' },
    });
    expect(shown(after(asked, start(), failed))).toEqual(['saved:Q1', 'ended']);
    const partial = answer(2, 1, 'half', { payload: { stopReason: 'interrupted' } });
    const stopped = after(asked, start(), begin('item-1'), piece(0, 'half'), node(partial), complete(id(2)), end('interrupted'));
    expect(shown(stopped)).toEqual(['saved:Q1', 'interrupted:half']);
  });

  test('E23: a follow-up that was sent while the answer was written stands after it', () => {
    const queued = after(
      asked, start(),
      host({ type: 'queue.updated', threadId: THREAD, queue: [{ runId: 'run-2', input: { content: [{ type: 'text', text: 'next' }] }, revision: 1 }] }),
      begin('item-1'), piece(0, 'x'), node(answer(2, 1, 'x')), complete(id(2)), end(),
      node(user(3, 2, 'next')),
      host({ type: 'turn.start', threadId: THREAD, turnId: 'turn-2', runId: 'run-2', turnKind: 'turn', steerable: false }),
    );
    expect(shown(queued)).toEqual(['saved:Q1', 'final:x', 'saved:next', 'thinking']);
    expect(queued.conversation.queue).toEqual([]);
  });
});

describe('E38: however pieces and snapshots meet', () => {
  const words = Array.from({ length: 40 }, (_, at) => `w${at} `);
  const whole = words.join('');

  test.each(Array.from({ length: 60 }, (_, seed) => [seed]))('the text ends as in an uninterrupted run (seed %i)', (seed) => {
    const next = random(seed);
    let state = after(showing(path(1)), start(), begin('item-1'));
    let at = 0;
    while (at < words.length) {
      const lost = next() < 0.15;
      if (lost) {
        // The port broke: some pieces never come, a snapshot taken a little later does.
        at = Math.min(words.length, at + below(next, 6));
        const items = [{ itemId: 'item-1', kind: 'assistant_message' as const, text: words.slice(0, at).join(''), seq: at - 1 }];
        const activeTurn = { runId: RUN, turnId: TURN, state: 'streaming_model' as const, items };
        state = after(state, { type: 'snapshot', snapshot: snapshot(path(1), { activeTurn }) });
        continue;
      }
      state = after(state, piece(at, words[at] as string));
      at += 1;
      // What was sent before the snapshot may be delivered once more behind it.
      if (next() < 0.3) state = after(state, piece(below(next, at), 'again '));
    }
    expect(textOf(state)).toBe(whole);
    const done = after(state, node(answer(2, 1, whole)), complete(id(2)), end());
    expect(shown(done)).toEqual(['saved:Q1', `final:${whole}`]);
  });
});
