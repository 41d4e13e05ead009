// A turn as it happens: items start, grow by deltas, complete; the turn ends.
import type { EventOf, Heard, ItemKind } from '../../protocol';
import type { Conversation, LiveItem } from './model';

/** The conversation after an event of its turn; the same object when the event says nothing to it. */
export function withTurnEvent(conversation: Conversation, event: Heard): Conversation {
  switch (event.type) {
    case 'turn.start':
      return started(conversation, event);
    case 'item.start':
      return withItem(conversation, event.itemId, event.kind);
    case 'item.delta':
      return grown(conversation, event);
    case 'item.complete':
      return completed(conversation, event);
    case 'token.usage':
      return { ...conversation, usage: event.usage };
    case 'turn.complete':
      return ended(conversation, event);
    case 'queue.updated':
      return { ...conversation, queue: event.queue };
    default:
      return withQuestion(conversation, event);
  }
}

function withQuestion(conversation: Conversation, event: Heard): Conversation {
  const { approvals, interactions } = conversation;
  switch (event.type) {
    case 'approval.request':
      return { ...conversation, approvals: [...approvals.filter((each) => each.approvalId !== event.approvalId), event] };
    case 'approval.resolved':
      return { ...conversation, approvals: approvals.filter((each) => each.approvalId !== event.approvalId) };
    case 'interaction.request': {
      const others = interactions.filter((each) => each.interactionId !== event.interactionId);
      return { ...conversation, interactions: [...others, event] };
    }
    case 'interaction.resolved':
      return { ...conversation, interactions: interactions.filter((each) => each.interactionId !== event.interactionId) };
    default:
      return conversation;
  }
}

function started(conversation: Conversation, { runId, turnId, turnKind, steerable }: EventOf<'turn.start'>): Conversation {
  const again = conversation.turn?.turnId === turnId;
  return {
    ...conversation,
    turn: { runId, turnId, state: 'preparing', linear: turnKind === 'turn', steerable },
    // A turn that starts once more (after its runner died) says everything anew under new items.
    items: conversation.items.filter((item) => item.nodeId !== undefined),
    ended: null,
    usage: again ? conversation.usage : null,
    queue: conversation.queue.filter((each) => each.runId !== runId),
    recoverable: conversation.recoverable.filter((each) => each.runId !== runId),
  };
}

function withItem(conversation: Conversation, itemId: string, kind: ItemKind): Conversation {
  if (conversation.items.some((item) => item.itemId === itemId)) return conversation;
  const item: LiveItem = { itemId, kind, text: '', reasoning: '', seq: -1 };
  return { ...conversation, items: [...conversation.items, item] };
}

function grown(conversation: Conversation, { itemId, seq, delta }: EventOf<'item.delta'>): Conversation {
  const at = conversation.items.findIndex((item) => item.itemId === itemId);
  const item = conversation.items[at];
  // We were not there when it started: only a snapshot has its beginning.
  if (!item) return conversation.stale ? conversation : { ...conversation, stale: true };
  if (seq <= item.seq || item.nodeId !== undefined) return conversation;
  const { progress: _, ...before } = item;
  const longer: LiveItem = {
    ...before,
    seq,
    ...(delta.toolProgress === undefined ? {} : { progress: delta.toolProgress }),
    text: item.text + (delta.text ?? ''),
    reasoning: item.reasoning + (delta.reasoning ?? ''),
  };
  return { ...conversation, items: conversation.items.with(at, longer) };
}

function completed(conversation: Conversation, { itemId, nodeId }: EventOf<'item.complete'>): Conversation {
  const at = conversation.items.findIndex((item) => item.itemId === itemId);
  const item = conversation.items[at];
  if (!item) return conversation;
  if (nodeId === undefined) return { ...conversation, items: conversation.items.toSpliced(at, 1) };
  const born = { ...conversation.born, [nodeId]: itemId };
  if (conversation.nodes.some((node) => node.id === nodeId)) {
    return { ...conversation, born, items: conversation.items.toSpliced(at, 1) };
  }
  return { ...conversation, born, items: conversation.items.with(at, { ...item, nodeId }) };
}

function ended(conversation: Conversation, { turnId, stopReason, error }: EventOf<'turn.complete'>): Conversation {
  if (conversation.turn && conversation.turn.turnId !== turnId) return conversation;
  return {
    ...conversation,
    turn: null,
    ended: { turnId, stopReason, ...(error ? { error } : {}) },
    // All of it is on disk; what has not come as a node is read again, and so is where it forked.
    // A paused one can go on, which only a snapshot tells.
    stale: conversation.stale || conversation.items.length > 0 || conversation.turn?.linear === false || stopReason === 'budget_pause',
  };
}
