// Commands without a lasting answer yet: what the panel shows as not saved.
import { type Entry, standing } from '../../outbox/entry';
import { type CommandAck, type CommandRejected, type Op, threadOf, type TurnSubmitted } from '../../protocol';
import type { PanelState, Pending } from './model';

export function made(state: PanelState, op: Op, at: number): PanelState {
  return { ...state, pending: [...state.pending, { submissionId: op.submissionId, op, at, state: 'storing' }] };
}

function change(state: PanelState, submissionId: string, to: Partial<Pending> | null): PanelState {
  const at = state.pending.findIndex((each) => each.submissionId === submissionId);
  const entry = state.pending[at];
  if (!entry) return state;
  return {
    ...state,
    pending: to === null ? state.pending.toSpliced(at, 1) : state.pending.with(at, { ...entry, ...to }),
  };
}

export function stored(state: PanelState, submissionId: string): PanelState {
  const entry = state.pending.find((each) => each.submissionId === submissionId);
  return entry?.state === 'storing' ? change(state, submissionId, { state: 'waiting' }) : state;
}

export function dropped(state: PanelState, submissionId: string): PanelState {
  return change(state, submissionId, null);
}

/** The host's answer to one of our commands. */
export function answered(state: PanelState, answer: (CommandAck & Partial<TurnSubmitted>) | CommandRejected): PanelState {
  const { submissionId } = answer;
  if (answer.type === 'command.ack') {
    const { userNodeId } = answer;
    if (userNodeId === undefined) return change(state, submissionId, null);
    // A bubble only stands in for its node where that node will be shown.
    const entry = state.pending.find((each) => each.submissionId === submissionId);
    if (!entry || threadOf(entry.op) !== state.conversation.threadId) return dropped(state, submissionId);
    const there = state.conversation.nodes.some((node) => node.id === userNodeId);
    return there
      ? withBirth(change(state, submissionId, null), userNodeId, submissionId)
      : change(state, submissionId, { state: 'acked', userNodeId });
  }
  // What becomes of a refused command is the outbox's decision; here it is only said.
  return change(state, submissionId, { code: answer.code, message: answer.message });
}

/** User nodes that have come take the place of the bubbles that stood for them. */
export function arrived(state: PanelState): PanelState {
  let next = state;
  for (const each of state.pending) {
    const { userNodeId } = each;
    if (userNodeId === undefined || !state.conversation.nodes.some((node) => node.id === userNodeId)) continue;
    next = withBirth(change(next, each.submissionId, null), userNodeId, each.submissionId);
  }
  return next;
}

/** A snapshot holds every node whose acknowledgement came before it: no bubble has to stand in any more. */
export function noneAcked(state: PanelState): PanelState {
  const pending = state.pending.filter((each) => each.state !== 'acked');
  return pending.length === state.pending.length ? state : { ...state, pending };
}

function withBirth(state: PanelState, nodeId: string, bornAs: string): PanelState {
  const { conversation } = state;
  return { ...state, conversation: { ...conversation, born: { ...conversation.born, [nodeId]: bornAs } } };
}

/** Brings what we show in line with what the outbox holds. */
export function outboxRead(state: PanelState, entries: readonly Entry[], now: number): PanelState {
  const kept = new Map(entries.map((entry) => [entry.submissionId, entry]));
  const shown = new Set(state.pending.map((each) => each.submissionId));
  const still = state.pending
    .filter((each) => each.state === 'storing' || each.state === 'acked' || kept.has(each.submissionId))
    .map((each) => {
      const entry = kept.get(each.submissionId);
      return entry && each.state !== 'acked' ? fromEntry(entry, state.storeId, now, each) : each;
    });
  const found = entries
    .filter((entry) => !shown.has(entry.submissionId))
    .map((entry) => fromEntry(entry, state.storeId, now));
  return { ...state, pending: [...still, ...found] };
}

function fromEntry(entry: Entry, storeId: string | null, now: number, shown?: Pending): Pending {
  const code = entry.refusal?.code ?? shown?.code;
  const message = entry.refusal?.message ?? shown?.message;
  return {
    submissionId: entry.submissionId,
    op: entry.op,
    at: entry.writtenAt,
    state: standing(entry, storeId, now),
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
  };
}

/** How many things are not on the companion's disk. A new chat and its first message are one for a person. */
export function unsaved(pending: readonly Pending[]): number {
  const open = pending.filter((each) => each.state !== 'acked');
  const spoken = new Set(open.filter(({ op }) => op.type === 'turn.submit').map(({ op }) => threadOf(op)));
  return open.filter(({ op }) => op.type !== 'thread.create' || !spoken.has(op.threadId)).length;
}
