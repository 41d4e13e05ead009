// The visible path: nodes join where they belong, snapshots and pages meet what is shown, notices are seen.
import { describe, expect, test } from 'vitest';
import { initialState } from '../../src/panel/state/model';
import { rowsOf } from '../../src/panel/state/rows';
import type { PanelState } from '../../src/panel/state/model';
import { after, answer, host, id, meta, notice, path, ready, RUN, showing, snapshot, THREAD, TURN, user } from '../support/make';
import { below, random } from '../support/random';

const ids = (state: PanelState): string[] => state.conversation.nodes.map((node) => node.id);
const node = (written: ReturnType<typeof user>) => host({ type: 'thread.node', threadId: THREAD, node: written });

describe('a node that the host has written', () => {
  test('goes under its parent at the end of the path', () => {
    const state = after(showing(path(2)), node(user(3, 2)));
    expect(ids(state)).toEqual([id(1), id(2), id(3)]);
    expect(state.conversation.stale).toBe(false);
  });

  test('E36: told twice it stands there once', () => {
    expect(ids(after(showing(path(2)), node(user(3, 2)), node(user(3, 2))))).toEqual([id(1), id(2), id(3)]);
  });

  test('hidden kinds are not shown', () => {
    const hidden = user(3, 2, '', { type: 'turn_context' });
    expect(ids(after(showing(path(2)), node(hidden)))).toEqual([id(1), id(2)]);
  });

  test('its visible parent counts, not the hidden node between', () => {
    const state = after(showing(path(1)), node(answer(3, 2, 'A', { effectiveParentId: id(1) })));
    expect(ids(state)).toEqual([id(1), id(3)]);
  });

  test('A4: a deletion takes it away, and the new form of the path is asked for', () => {
    const state = after(showing(path(3)), node(answer(2, 1, 'A2', { deleted: true })));
    expect(ids(state)).toEqual([id(1), id(3)]);
    expect(state.conversation.stale).toBe(true);
  });

  test('A3: a sibling takes the place of its branch, and the branch numbers are asked for', () => {
    const state = after(showing(path(4)), node(user(5, 2, 'edited')));
    expect(ids(state)).toEqual([id(1), id(2), id(5)]);
    expect(state.conversation.stale).toBe(true);
  });

  test('E21: under a parent that is not on show nothing is guessed: the snapshot is asked for', () => {
    const state = after(showing(path(2)), node(user(9, 8)));
    expect(ids(state)).toEqual([id(1), id(2)]);
    expect(state.conversation.stale).toBe(true);
  });

  test('a node of another thread changes nothing here', () => {
    const state = showing(path(2));
    expect(after(state, host({ type: 'thread.node', threadId: id(0xbbb), node: user(3, 2) })).conversation).toBe(state.conversation);
  });
});

describe('a snapshot', () => {
  const long = path(10);

  test('keeps what was paged in above it', () => {
    const paged = after(showing(long.slice(6), { before: id(7) }), {
      type: 'page', threadId: THREAD, beforeNodeId: id(7), nodes: long.slice(2, 6), before: id(3), siblings: {},
    });
    const state = after(paged, { type: 'snapshot', snapshot: snapshot(long.slice(6), { before: id(7) }) });
    expect(ids(state)).toEqual(long.slice(2).map((each) => each.id));
    expect(state.conversation.before).toBe(id(3));
  });

  test('of another branch replaces everything', () => {
    const other = [user(21, null), answer(22, 21)];
    expect(ids(after(showing(long), { type: 'snapshot', snapshot: snapshot(other) }))).toEqual([id(21), id(22)]);
  });

  test('E20: of a thread that had to be repaired shows the gap as a notice', () => {
    const nodes = [user(1, null), notice(2, 1, 'Two messages could not be read.', { payload: { code: 'repaired' } })];
    const state = showing(nodes);
    expect(rowsOf(state.conversation, [])).toMatchObject([{ role: 'user' }, { role: 'notice', text: 'Two messages could not be read.' }]);
  });

  test('of an empty or unreadable path is an empty chat and no endless wait', () => {
    const state = showing([]);
    expect(state.conversation).toMatchObject({ loaded: true, loading: false, stale: false, nodes: [] });
  });

  test('of a thread that is not on show any more is let go', () => {
    const state = after(initialState(id(0xbbb)), { type: 'link', status: ready() });
    expect(after(state, { type: 'snapshot', snapshot: snapshot(path(2)) })).toBe(state);
  });

  test('E42: does not take the list back to an older revision', () => {
    const state = after(
      showing(path(1)),
      host({ type: 'thread.created', thread: meta({ revision: 7, title: 'Newer' }) }),
      { type: 'snapshot', snapshot: snapshot(path(1), { thread: meta({ revision: 6, title: 'Older' }) }) },
    );
    expect(state.threads[THREAD]?.title).toBe('Newer');
  });
});

describe('E47: paging back', () => {
  test('a page goes above, with its branch numbers', () => {
    const long = path(6);
    const siblings = { [id(2)]: { index: 0, count: 2, ids: [id(2), id(30)] } };
    const state = after(showing(long.slice(3), { before: id(4) }), { type: 'page.asked' }, {
      type: 'page', threadId: THREAD, beforeNodeId: id(4), nodes: long.slice(0, 3), before: null, siblings,
    });
    expect(ids(state)).toEqual(long.map((each) => each.id));
    expect(state.conversation).toMatchObject({ before: null, paging: false, siblings });
  });

  test('a page that comes after the path has changed is let go', () => {
    const moved = after(showing(path(4).slice(2), { before: id(3) }), { type: 'page.asked' }, {
      type: 'snapshot', snapshot: snapshot([user(21, null)]),
    });
    const late = after(moved, { type: 'page', threadId: THREAD, beforeNodeId: id(3), nodes: path(2), before: null, siblings: {} });
    expect(ids(late)).toEqual([id(21)]);
    expect(late.conversation.paging).toBe(false);
  });

  test('a lost host ends the wait, and the snapshot is asked for', () => {
    const paging = after(showing(path(4).slice(2), { before: id(3) }), { type: 'page.asked' });
    const lost = after(paging, { type: 'link', status: { phase: 'down', code: 'exited', detail: '', retryAt: 1 } });
    expect(lost.conversation).toMatchObject({ paging: false, stale: true });
    expect(ids(lost)).toEqual([id(3), id(4)]);
  });
});

describe('E24: the cursor moved elsewhere', () => {
  const moved = (leafId: string) => host({ type: 'thread.updated', threadId: THREAD, revision: 2, patch: { leafId } });

  test('another window chose a branch: its path is asked for', () => {
    expect(after(showing(path(4)), moved(id(9))).conversation.stale).toBe(true);
  });

  test('the leaf that we show already needs no asking', () => {
    expect(after(showing(path(4)), moved(id(4))).conversation.stale).toBe(false);
  });

  test('during a turn the cursor moves with each node and says nothing', () => {
    const start = host({ type: 'turn.start', threadId: THREAD, turnId: TURN, runId: RUN, turnKind: 'turn', steerable: false });
    expect(after(showing(path(1)), start, moved(id(9))).conversation.stale).toBe(false);
  });
});

test.each(Array.from({ length: 40 }, (_, seed) => [seed]))(
  'E21: after any order of edits, answers and deletions each node shown hangs under the one above it (seed %i)',
  (seed) => {
    const next = random(seed);
    let state = showing(path(2));
    let number = 2;
    for (let step = 0; step < 60; step += 1) {
      const { nodes } = state.conversation;
      const parent = below(next, number + 1);
      number += 1;
      const made = next() < 0.5 ? user(number, parent || null) : answer(number, parent || null);
      const gone = nodes.at(below(next, nodes.length));
      const tombstone = gone && { ...gone, deleted: true };
      state = after(state, node(next() < 0.25 && tombstone ? tombstone : made));
      const shown = state.conversation.nodes;
      expect(new Set(shown.map((each) => each.id)).size).toBe(shown.length);
      // A hole is only there where the snapshot that closes it has been asked for.
      if (!state.conversation.stale) {
        shown.forEach((each, at) => expect(each.effectiveParentId).toBe(shown[at - 1]?.id ?? null));
      }
    }
  },
);
