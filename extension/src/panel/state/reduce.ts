// The reducer: the state after an event. Pure; everything else is a view of it or an effect beside it.
import type { EventOf, Heard, ThreadSnapshot } from '../../protocol';
import type { PanelEvent } from './events';
import { filtered, found, listAsked, listed, withFolders, withListEvent, withThread } from './lists';
import { type Conversation, emptyConversation, type PanelState } from './model';
import { withNode, withPage, withSnapshot } from './path';
import { answered, arrived, dropped, made, noneAcked, outboxRead, stored } from './pending';
import { withTurnEvent } from './turn';

const TOASTS = 2;

export function reduce(state: PanelState, event: PanelEvent): PanelState {
  switch (event.type) {
    case 'welcome':
      return { ...state, profileId: event.clientId, storeId: state.storeId ?? event.storeId };
    case 'link':
      return linked(state, event.status);
    case 'host':
      return hostSaid(state, event.event);
    case 'outbox.read':
      return outboxRead(state, event.entries, event.now);
    case 'command.made':
      return made(state, event.op, event.at);
    case 'command.stored':
      return stored(state, event.submissionId);
    case 'command.dropped':
      return dropped(state, event.submissionId);
    case 'thread.opened':
      return opened(state, event.threadId, event.fresh, event.stay ? state.page : 'chat');
    case 'thread.missing':
      return inConversation(state, (shown) =>
        shown.threadId === event.threadId ? { ...shown, loading: false, missing: true, stale: false } : shown,
      );
    case 'snapshot.asked':
      return inConversation(state, (shown) => ({ ...shown, loading: true, stale: false }));
    case 'snapshot':
      return snapshotCame(state, event.snapshot);
    case 'snapshot.wanted':
      return inConversation(state, (shown) => (shown.threadId === event.threadId ? { ...shown, stale: true } : shown));
    case 'page.asked':
      return inConversation(state, (shown) => ({ ...shown, paging: true }));
    case 'page':
      return inConversation(state, (shown) =>
        shown.threadId === event.threadId
          ? withPage(shown, event.beforeNodeId, event.nodes, event.before, event.siblings)
          : shown,
      );
    case 'page.failed':
      return inConversation(state, (shown) => ({ ...shown, paging: false }));
    case 'list.asked':
      return listAsked(state, event.shelf, true);
    case 'list.failed':
      return listAsked(state, event.shelf, false);
    case 'list':
      return event.filter === state.filter
        ? listed(state, event.shelf, event.threads, event.cursor, event.more)
        : state;
    case 'list.found':
      return event.filter === state.filter ? found(state, event.shelf, event.threads) : state;
    case 'filter.chosen':
      return filtered(state, event.filter);
    case 'folders':
      return withFolders(state, event.folders);
    case 'dialog':
      return { ...state, dialog: event.dialog };
    case 'recovery.dismissed':
      return inConversation(state, (shown) => ({
        ...shown,
        recoverable: shown.recoverable.filter((each) => each.runId !== event.runId),
      }));
    case 'draft':
      return { ...state, drafts: { ...state.drafts, [event.threadId]: event.draft } };
    case 'page.shown':
      return { ...state, page: event.page };
    case 'shelf.shown':
      return { ...state, shelf: event.shelf };
    case 'toast':
      return { ...state, toasts: [...state.toasts.filter((each) => each.id !== event.toast.id), event.toast].slice(-TOASTS) };
    case 'toast.gone':
      return { ...state, toasts: state.toasts.filter((each) => each.id !== event.id) };
    case 'connections':
      return { ...state, connections: event.connections };
    case 'model.chosen':
      return { ...state, defaultModel: event.model };
    case 'storage':
      // The warning stands until there is room again.
      return { ...state, storage: event.status, storageWarning: event.status.warn ? state.storageWarning : null };
    case 'preferences':
      return { ...state, preferences: event.preferences };
  }
}

function inConversation(state: PanelState, change: (shown: Conversation) => Conversation): PanelState {
  const conversation = change(state.conversation);
  return conversation === state.conversation ? state : { ...state, conversation };
}

function linked(state: PanelState, status: PanelState['link']): PanelState {
  if (status.phase !== 'ready') {
    // Whatever we asked is lost with the host; what is shown stays, and is asked for again.
    const loading = inConversation({ ...state, link: status }, (shown) =>
      shown.loading || shown.paging ? { ...shown, loading: false, paging: false, stale: shown.loaded } : shown,
    );
    return loading;
  }
  return { ...state, link: status, storeId: status.storeId, capabilities: new Set(status.capabilities) };
}

function opened(state: PanelState, threadId: string, fresh: boolean, page: PanelState['page']): PanelState {
  if (state.conversation.threadId === threadId) return { ...state, page };
  // `stale` asks for the snapshot; a new chat has none yet.
  return { ...noneAcked(state), page, conversation: { ...emptyConversation(threadId), stale: !fresh } };
}

function snapshotCame(state: PanelState, snapshot: ThreadSnapshot): PanelState {
  if (snapshot.thread.id !== state.conversation.threadId) return state;
  const next = withThread(state, snapshot.thread);
  return noneAcked(arrived(inConversation(next, (shown) => withSnapshot(shown, snapshot))));
}

function hostSaid(state: PanelState, event: Heard): PanelState {
  switch (event.type) {
    case 'command.ack':
    case 'command.rejected':
      return answered(state, event);
    case 'storage.warning':
      return { ...state, storageWarning: event.pct };
    case 'thread.snapshot':
      return snapshotCame(state, event);
  }
  const listedState = withListEvent(state, event);
  const about = event.type === 'thread.created' ? event.thread.id : 'threadId' in event ? event.threadId : undefined;
  if (about !== state.conversation.threadId) return listedState;
  return arrived(inConversation(listedState, (shown) => hereSaid(shown, event)));
}

/** An event of the thread that is on show. */
function hereSaid(shown: Conversation, event: Heard): Conversation {
  switch (event.type) {
    case 'thread.node':
      return withNode(shown, event.node);
    case 'thread.created':
      return shown.loaded ? shown : { ...shown, stale: true };
    case 'thread.deleted':
      return event.purged ? { ...emptyConversation(shown.threadId), missing: true } : { ...shown, turn: null, items: [] };
    case 'run.recovery_required':
      return { ...shown, stale: true };
    case 'thread.updated':
      return updated(shown, event);
    default:
      return withTurnEvent(shown, event);
  }
}

function updated(shown: Conversation, { patch: { leafId, status } }: EventOf<'thread.updated'>): Conversation {
  // The cursor moved by itself: a branch was chosen or a message deleted, here or in another window.
  const moved = leafId !== undefined && !shown.turn && leafId !== shown.nodes.at(-1)?.id;
  const died = status === 'interrupted' && shown.turn !== null;
  return moved || died ? { ...shown, stale: true } : shown;
}
