// The visible path of a conversation: where a new node goes, and how a new snapshot meets what is shown.
import type { Siblings, ThreadNode, ThreadSnapshot } from '../../protocol';
import type { Conversation, LiveItem } from './model';
import { textOf } from './payload';

const HIDDEN: ReadonlySet<string> = new Set(['turn_context', 'interaction_response']);

export function isHidden(node: ThreadNode): boolean {
  return node.deleted === true || HIDDEN.has(node.type);
}

/** The item on show that became this node: named by `item.complete`, or known by its text when the node is first. */
function itemOf(conversation: Conversation, node: ThreadNode): LiveItem | undefined {
  const named = conversation.items.find((item) => item.nodeId === node.id);
  if (named || node.type !== 'assistant_message') return named;
  const text = textOf(node);
  return conversation.items.find(
    (item) => item.kind === 'assistant_message' && item.nodeId === undefined && item.text !== '' && text.startsWith(item.text),
  );
}

/** Takes in a node that the host has just written. */
export function withNode(before: Conversation, node: ThreadNode): Conversation {
  const item = itemOf(before, node);
  const conversation = item ? { ...before, born: { ...before.born, [node.id]: item.itemId } } : before;
  const { nodes } = conversation;
  const at = nodes.findIndex((each) => each.id === node.id);
  const items = item ? before.items.filter((each) => each !== item) : before.items;
  if (isHidden(node)) {
    return at < 0 ? { ...conversation, items } : { ...conversation, items, nodes: nodes.toSpliced(at, 1), stale: true };
  }
  if (at >= 0) return { ...conversation, items, nodes: nodes.with(at, node) };
  const parent = node.effectiveParentId;
  const parentAt = parent === null ? -1 : nodes.findLastIndex((each) => each.id === parent);
  // A parent that we do not show: a branch of which only a snapshot knows the way.
  if (parent !== null && parentAt < 0) return { ...conversation, items, stale: true };
  if (parent === null && conversation.before !== null) return { ...conversation, items, stale: true };
  const kept = nodes.slice(0, parentAt + 1);
  const branched = kept.length < nodes.length;
  return { ...conversation, items, nodes: [...kept, node], stale: conversation.stale || branched };
}

/** Text that came by deltas while the snapshot was on its way is not shown twice, and not lost. */
function joinItems(fresh: readonly LiveItem[], shown: readonly LiveItem[]): LiveItem[] {
  return fresh.map((item) => {
    const known = shown.find((each) => each.itemId === item.itemId);
    return known && known.seq > item.seq ? known : item;
  });
}

export function withSnapshot(conversation: Conversation, snapshot: ThreadSnapshot): Conversation {
  const { thread, nodes, before, siblings, activeTurn } = snapshot;
  const same = conversation.threadId === thread.id;
  const [first] = nodes;
  const overlap = same && first ? conversation.nodes.findIndex((each) => each.id === first.id) : -1;
  // What was paged in above the snapshot stays.
  const above = overlap > 0 ? conversation.nodes.slice(0, overlap) : [];
  const items = (activeTurn?.items ?? []).map(
    (item): LiveItem => ({
      itemId: item.itemId,
      kind: item.kind,
      text: item.text ?? '',
      reasoning: item.reasoning ?? '',
      seq: item.seq,
    }),
  );
  return {
    ...conversation,
    threadId: thread.id,
    loaded: true,
    loading: false,
    missing: false,
    nodes: [...above, ...nodes],
    before: above.length > 0 ? conversation.before : before,
    siblings: above.length > 0 ? { ...conversation.siblings, ...siblings } : siblings,
    // A paused run stands among those that can go on: nothing is written until somebody says so.
    turn: activeTurn && !activeTurn.state.startsWith('paused_') ? {
      runId: activeTurn.runId,
      turnId: activeTurn.turnId,
      state: activeTurn.state,
      // A snapshot does not say; a turn that takes no more words refuses them.
      steerable: conversation.turn?.turnId === activeTurn.turnId ? conversation.turn.steerable : true,
      linear: conversation.turn?.turnId === activeTurn.turnId && conversation.turn.linear,
    } : null,
    items: joinItems(items, same ? conversation.items : []),
    queue: snapshot.queue,
    recoverable: snapshot.recoverable,
    approvals: snapshot.approvals,
    interactions: snapshot.interactions,
    stale: false,
  };
}

export function withPage(
  conversation: Conversation,
  beforeNodeId: string,
  nodes: readonly ThreadNode[],
  before: string | null,
  siblings: Readonly<Record<string, Siblings>>,
): Conversation {
  if (conversation.nodes[0]?.id !== beforeNodeId) return { ...conversation, paging: false };
  return {
    ...conversation,
    nodes: [...nodes, ...conversation.nodes],
    before,
    siblings: { ...siblings, ...conversation.siblings },
    paging: false,
  };
}
