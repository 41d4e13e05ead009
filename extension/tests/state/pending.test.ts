// What is not on the companion's disk is shown as such, until it is, and never twice.
import { describe, expect, test } from 'vitest';
import { type Entry, RECEIPTS_LAST } from '../../src/outbox/entry';
import type { PanelEvent } from '../../src/panel/state/events';
import { initialState, type PanelState } from '../../src/panel/state/model';
import { unsaved } from '../../src/panel/state/pending';
import { rowsOf } from '../../src/panel/state/rows';
import { after, create, entry, host, id, path, ready, showing, snapshot, submit, THREAD, user } from '../support/make';

const made = (number: number, text?: string): PanelEvent => ({ type: 'command.made', op: submit(number, text), at: 1_000 });
const stored = (number: number): PanelEvent => ({ type: 'command.stored', submissionId: id(number) });
const ack = (number: number, userNodeId?: string): PanelEvent =>
  host({ type: 'command.ack', submissionId: id(number), ...(userNodeId === undefined ? {} : { userNodeId }) } as never);
const node = (number: number, parent: number | null, text: string): PanelEvent =>
  host({ type: 'thread.node', threadId: THREAD, node: user(number, parent, text) });
const bubbles = (state: PanelState): string[] =>
  rowsOf(state.conversation, state.pending).map((row) => (row.kind === 'message' ? `${row.state}:${row.text}` : row.kind));

describe('a message on its way', () => {
  const here = showing(path(2));

  test('is unsaved from the first moment on, and counted', () => {
    const state = after(here, made(50, 'hello'));
    expect(bubbles(state).at(-1)).toBe('unsaved:hello');
    expect(unsaved(state.pending)).toBe(1);
    expect(bubbles(after(state, stored(50))).at(-1)).toBe('unsaved:hello');
  });

  test('is saved once acknowledged, and becomes its node under the same key', () => {
    const acked = after(here, made(50, 'hello'), stored(50), ack(50, id(3)));
    expect(bubbles(acked).at(-1)).toBe('saved:hello');
    expect(unsaved(acked.pending)).toBe(0);
    const told = after(acked, node(3, 2, 'hello'));
    expect(bubbles(told).slice(2)).toEqual(['saved:hello']);
    expect(rowsOf(told.conversation, told.pending).at(-1)?.key).toBe(id(50));
  });

  test('stands there once when its node is told before its acknowledgement', () => {
    const state = after(here, made(50, 'hello'), stored(50), node(3, 2, 'hello'), ack(50, id(3)));
    expect(bubbles(state).slice(2)).toEqual(['saved:hello']);
  });

  test('that was acknowledged is in any later snapshot, so nothing stands in for it', () => {
    const state = after(here, made(50, 'hello'), ack(50, id(3)), { type: 'snapshot', snapshot: snapshot([...path(2), user(3, 2, 'hello')]) });
    expect(bubbles(state)).toEqual(['saved:Q1', 'final:A2', 'saved:hello']);
    expect(state.pending).toEqual([]);
  });

  test('of another thread leaves no bubble here', () => {
    const state = after(initialState(id(9)), { type: 'link', status: ready() }, made(50), ack(50, id(3)));
    expect(state.pending).toEqual([]);
  });

  test('a queued one becomes a card of the queue instead of a bubble', () => {
    const state = after(here, made(50, 'later'), stored(50), ack(50));
    expect(state.pending).toEqual([]);
  });

  test('a new chat and its first message are one thing that is not saved', () => {
    const state = after(initialState(THREAD), { type: 'command.made', op: create(49), at: 1 }, made(50), made(51));
    expect(unsaved(state.pending)).toBe(2);
    expect(unsaved(after(initialState(THREAD), { type: 'command.made', op: create(49), at: 1 }).pending)).toBe(1);
  });
});

describe('what the outbox holds', () => {
  const read = (state: PanelState, entries: readonly Entry[], now = 2_000): PanelState =>
    after(state, { type: 'outbox.read', entries, now });
  const connected = after(showing(path(1)), { type: 'link', status: ready('store-1') });

  test('E1: what an earlier panel sent is shown again', () => {
    const state = read(connected, [entry(submit(50, 'from before'))]);
    expect(bubbles(state)).toEqual(['saved:Q1', 'unsaved:from before']);
  });

  test('what was answered meanwhile goes', () => {
    const state = read(after(connected, made(50), stored(50)), []);
    expect(state.pending).toEqual([]);
  });

  test('what is just being written is not lost by a look that came too early', () => {
    expect(read(after(connected, made(50, 'now')), []).pending).toMatchObject([{ state: 'storing' }]);
  });

  test('a refusal is said and kept until somebody decides', () => {
    const refused = entry(submit(50, 'no'), { refusal: { code: 'queue_full', message: 'full' } });
    const state = read(after(connected, made(50, 'no'), stored(50)), [refused]);
    expect(bubbles(state).at(-1)).toBe('refused:no');
    expect(state.pending[0]).toMatchObject({ code: 'queue_full', message: 'full' });
    expect(unsaved(state.pending)).toBe(1);
    expect(after(state, { type: 'command.dropped', submissionId: id(50) }).pending).toEqual([]);
  });

  test('E35: one older than six days is not confirmed, and not sent by itself', () => {
    const at = 1_000 + RECEIPTS_LAST;
    expect(bubbles(read(connected, [entry(submit(50, 'old'))], at)).at(-1)).toBe('unsaved:old');
    expect(bubbles(read(connected, [entry(submit(50, 'old'))], at + 1)).at(-1)).toBe('unconfirmed:old');
  });

  test('one for another store is not confirmed; one for no store yet waits', () => {
    const state = read(connected, [entry(submit(50, 'theirs'), { storeId: 'store-2' }), entry(submit(51, 'any'), { storeId: null })]);
    expect(bubbles(state).slice(1)).toEqual(['unconfirmed:theirs', 'unsaved:any']);
  });

  test('they stand in the order in which they were written, after the running answer', () => {
    const start = host({ type: 'turn.start', threadId: THREAD, turnId: 't', runId: 'r', turnKind: 'turn', steerable: false });
    const state = read(after(connected, start), [entry(submit(50, 'one')), entry(submit(51, 'two'))]);
    expect(bubbles(state)).toEqual(['saved:Q1', 'thinking', 'unsaved:one', 'unsaved:two']);
  });
});
