// Reads the thread lists and the folders from the host, and reads them again when they may have moved.
import type { Filter, Shelf } from '../state/model';
import { can, dispatch, filter, lists } from '../store';
import { ask, quietly, Refusal } from './session';

const LIST_PAGE = 100;
const PINNED_AT_MOST = 200;

const FILTERS = {
  active: {},
  archived: { archived: true },
  trash: { trash: true },
} as const;

const wantedOf = (shelf: Shelf, chosen: Filter): object => ({ ...FILTERS[shelf], ...chosen });

export async function loadList(wanted: Shelf, more: boolean): Promise<void> {
  const { cursor, loading } = lists.peek()[wanted];
  const chosen = filter.peek();
  if (loading || (more && cursor === null)) return;
  dispatch({ type: 'list.asked', shelf: wanted });
  try {
    const from = more && cursor !== null ? { cursor } : {};
    const { data } = await ask('thread.list', { limit: LIST_PAGE, ...wantedOf(wanted, chosen), ...from });
    dispatch({ type: 'list', shelf: wanted, filter: chosen, ...data, more });
    // Pinned ones stand first, however old they are.
    if (!more && data.cursor !== null && wanted !== 'trash') await find(wanted, { pinned: true, limit: PINNED_AT_MOST });
  } catch (error) {
    if (chosen === filter.peek()) dispatch({ type: 'list.failed', shelf: wanted });
    if (!(error instanceof Refusal)) throw error;
  }
}

async function find(shelf: Shelf, which: { pinned?: true; limit: number }): Promise<void> {
  const chosen = filter.peek();
  const { data } = await ask('thread.list', { ...wantedOf(shelf, chosen), ...which });
  dispatch({ type: 'list.found', shelf, filter: chosen, threads: data.threads });
}

/** The newest of the active list, without giving up what was paged in below. */
export function loadHead(): Promise<void> {
  return quietly(() => find('active', { limit: LIST_PAGE }));
}

export const loadFolders = (): Promise<void> =>
  quietly(async () => {
    if (!can('folder.list')) return;
    dispatch({ type: 'folders', folders: (await ask('folder.list', {})).data.folders });
  });
