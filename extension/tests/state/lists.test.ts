// The lists: two windows in step, folders and tags, trash, and threads beyond what was read.
import { describe, expect, test } from 'vitest';
import { initialState, type PanelState, type Shelf } from '../../src/panel/state/model';
import { dayStart, shelves } from '../../src/panel/state/shelves';
import { after, create, host, id, meta, submit, THREAD } from '../support/make';
import type { ThreadMeta } from '../../src/protocol';

const start = initialState(id(0xfff));
function listed(threads: readonly ThreadMeta[], shelf: Shelf = 'active', cursor: string | null = null, from: PanelState = start): PanelState {
  return after(from, { type: 'list.asked', shelf }, { type: 'list', shelf, filter: from.filter, threads, cursor, more: false });
}
const on = (state: PanelState, shelf: Shelf): string[] =>
  shelves(state.threads, state.lists, state.pending, shelf, 10_000).flatMap((section) => section.threads.map(({ thread }) => thread.id));
const updated = (patch: Parameters<typeof meta>[0], revision = 2, threadId = THREAD) =>
  host({ type: 'thread.updated', threadId, revision, patch: patch as never });

describe('D1: what another window does shows here', () => {
  const state = listed([meta()]);

  test('a new thread comes into the list', () => {
    expect(on(after(state, host({ type: 'thread.created', thread: meta({ id: id(2), updatedAt: 9_000 }) })), 'active')).toEqual([id(2), THREAD]);
  });

  test('a new title, a pin, an unread mark', () => {
    const changed = after(state, updated({ title: 'New', pinned: true, unread: true }));
    expect(changed.threads[THREAD]).toMatchObject({ title: 'New', pinned: true, unread: true, revision: 2 });
  });

  test('E42: an older revision changes nothing', () => {
    const newer = after(state, updated({ title: 'Newer' }, 5));
    expect(after(newer, updated({ title: 'Older' }, 4))).toBe(newer);
  });

  test('null clears a member, except the leaf, which stays null', () => {
    const filed = listed([meta({ folderId: 'f', leafId: id(4) })]);
    const cleared = after(filed, updated({ folderId: null as never, leafId: null })).threads[THREAD];
    expect(cleared && 'folderId' in cleared).toBe(false);
    expect(cleared?.leafId).toBeNull();
  });

  test('archived it leaves the list and comes into the archive, once that is loaded', () => {
    const both = listed([], 'archived', null, state);
    const moved = after(both, updated({ archived: true }));
    expect([on(moved, 'active'), on(moved, 'archived')]).toEqual([[], [THREAD]]);
  });

  test('A5: deleted it goes to the trash, restored it comes back, purged it is gone everywhere', () => {
    const trash = after(listed([], 'trash', null, state), host({ type: 'thread.deleted', threadId: THREAD, purged: false }));
    expect([on(trash, 'active'), on(trash, 'trash')]).toEqual([[], [THREAD]]);
    const back = after(trash, host({ type: 'thread.created', thread: meta({ revision: 3 }) }));
    expect([on(back, 'active'), on(back, 'trash')]).toEqual([[THREAD], []]);
    const purged = after(trash, host({ type: 'thread.deleted', threadId: THREAD, purged: true }));
    expect([on(purged, 'active'), on(purged, 'trash'), purged.threads[THREAD]]).toEqual([[], [], undefined]);
  });

  test('a purge takes back the offers to undo what was done to the thread', () => {
    const offered = after(state, { type: 'toast', toast: { id: 't', text: '', kind: 'info', undo: { op: 'thread.restore', threadId: THREAD } } });
    expect(after(offered, host({ type: 'thread.deleted', threadId: THREAD, purged: true })).toasts).toEqual([]);
  });

  test('a purge of the thread on show leaves nothing of it on the screen', () => {
    const shown = after(state, { type: 'thread.opened', threadId: THREAD, fresh: false });
    const purged = after(shown, host({ type: 'thread.deleted', threadId: THREAD, purged: true }));
    expect(purged.conversation).toMatchObject({ threadId: THREAD, missing: true, nodes: [], turn: null });
  });

  test('something said in a thread further down than was read: the head of the list is read again', () => {
    const other = after(listed([meta()], 'active', 'cursor'), updated({ updatedAt: 9_000 }, 4, id(77)));
    expect(other.lists.active.behind).toBe(true);
    const found = after(other, { type: 'list.found', shelf: 'active', filter: other.filter, threads: [meta({ id: id(77), updatedAt: 9_000 })] });
    expect(on(found, 'active')).toEqual([id(77), THREAD]);
    expect(found.lists.active).toMatchObject({ behind: false, cursor: 'cursor' });
  });
});

describe('folders and tags', () => {
  const filed = meta({ id: id(2), folderId: 'sea', tags: ['tide'] });

  test('a filter begins the lists anew', () => {
    const state = after(listed([meta(), filed]), { type: 'filter.chosen', filter: { folderId: 'sea' } });
    expect(state.lists.active).toMatchObject({ ids: [], loaded: false, loading: false });
  });

  test('an answer for the filter before is let go', () => {
    const narrowed = after(start, { type: 'list.asked', shelf: 'active' }, { type: 'filter.chosen', filter: { tag: 'tide' } });
    const late = after(narrowed, { type: 'list', shelf: 'active', filter: start.filter, threads: [meta()], cursor: null, more: false });
    expect(late).toBe(narrowed);
  });

  test('a thread that comes into the folder comes into its list, and goes with its leaving', () => {
    const narrowed = listed([filed], 'active', null, after(start, { type: 'filter.chosen', filter: { folderId: 'sea' } }));
    const came = after(narrowed, host({ type: 'thread.created', thread: meta({ folderId: 'sea' }) }));
    expect(on(came, 'active').toSorted()).toEqual([id(2), THREAD].toSorted());
    const left = after(came, updated({ folderId: null as never }));
    expect(on(left, 'active')).toEqual([id(2)]);
    const other = after(left, host({ type: 'thread.created', thread: meta({ id: id(3) }) }));
    expect(on(other, 'active')).toEqual([id(2)]);
  });

  test('a folder that was deleted elsewhere is not looked into any more', () => {
    const inside = after(start, { type: 'folders', folders: [{ id: 'sea', name: 'Sea', updatedAt: 1 }] }, { type: 'filter.chosen', filter: { folderId: 'sea' } });
    expect(after(inside, { type: 'folders', folders: [] }).filter).toEqual({});
    const kept = after(inside, { type: 'folders', folders: [{ id: 'sea', name: 'Sea life', updatedAt: 2 }] });
    expect([kept.filter, kept.folders[0]?.name]).toEqual([{ folderId: 'sea' }, 'Sea life']);
  });
});

describe('the list as it is shown', () => {
  test('pinned first, then by day, newest first', () => {
    const now = new Date(2026, 5, 15, 12).getTime();
    const today = dayStart(now);
    const at = { pin: today - 40 * 86_400_000, now: now - 1, yesterday: today - 1, week: today - 5 * 86_400_000, older: today - 60 * 86_400_000 };
    const state = listed([
      meta({ id: id(1), updatedAt: at.older }), meta({ id: id(2), updatedAt: at.now }), meta({ id: id(3), updatedAt: at.pin, pinned: true }),
      meta({ id: id(4), updatedAt: at.week }), meta({ id: id(5), updatedAt: at.yesterday }), meta({ id: id(6), updatedAt: at.now - 5 }),
    ]);
    const sections = shelves(state.threads, state.lists, [], 'active', now);
    expect(sections.map(({ group, threads }) => [group, threads.map(({ thread }) => thread.id)])).toEqual([
      ['pinned', [id(3)]], ['today', [id(2), id(6)]], ['yesterday', [id(5)]], ['week', [id(4)]], ['older', [id(1)]],
    ]);
  });

  test('E1: a chat whose creation is not answered yet stands there by its first words, marked as not saved', () => {
    const threadId = id(50);
    const state = after(listed([]), { type: 'command.made', op: create(1, threadId), at: 5_000 }, { type: 'command.made', op: submit(2, 'First  words\nhere', threadId), at: 5_000 });
    const [section] = shelves(state.threads, state.lists, state.pending, 'active', 10_000);
    expect(section?.threads).toMatchObject([{ unsaved: true, thread: { id: threadId, title: 'First words here' } }]);
  });

  test('a change that waits is shown at once, marked as not saved', () => {
    const op = { type: 'thread.update', submissionId: id(9), threadId: THREAD, patch: { title: 'Mine', pinned: true } } as const;
    const state = after(listed([meta()]), { type: 'command.made', op, at: 1 });
    const [section] = shelves(state.threads, state.lists, state.pending, 'active', 10_000);
    expect(section).toMatchObject({ group: 'pinned', threads: [{ unsaved: true, thread: { title: 'Mine' } }] });
  });
});
