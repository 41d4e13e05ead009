// What stands in the conversation, from top to bottom, as plain rows for the views.
import type {
  ContextBlock, PendingApproval, PendingInteraction, QueuedTurn, RecoverableRun, ThreadNode, Usage,
} from '../../protocol';
import type { Conversation, Ended, LiveItem, PanelState, Pending } from './model';
import * as payload from './payload';

export type Role = 'user' | 'assistant' | 'notice' | 'tool' | 'decision';
/** `unsaved`: only in this browser; `saved`: on the companion's disk; the rest are answers. */
export type MessageState =
  | 'unsaved' | 'refused' | 'unconfirmed' | 'saved' | 'streaming' | 'final' | 'incomplete' | 'interrupted' | 'error';

export interface MessageRow {
  readonly kind: 'message';
  readonly key: string;
  readonly role: Role;
  readonly state: MessageState;
  readonly text: string;
  readonly reasoning: string;
  readonly context: readonly ContextBlock[];
  /** Ids of the attachments that it names. */
  readonly attached: readonly string[];
  readonly node?: ThreadNode;
  readonly pending?: Pending;
  readonly origin?: payload.Origin;
  readonly usage?: Usage;
  readonly stopReason?: string;
  readonly tool?: payload.ToolUse;
  readonly at: number;
}

export type Row =
  | MessageRow
  | { readonly kind: 'recovery'; readonly key: string; readonly run: RecoverableRun }
  | { readonly kind: 'ended'; readonly key: string; readonly ended: Ended }
  | { readonly kind: 'thinking'; readonly key: string; readonly progress?: unknown }
  | { readonly kind: 'queued'; readonly key: string; readonly run: QueuedTurn; readonly place: number }
  | { readonly kind: 'approval'; readonly key: string; readonly approval: PendingApproval }
  | { readonly kind: 'interaction'; readonly key: string; readonly interaction: PendingInteraction };

const ROLES: Readonly<Record<string, Role>> = {
  user_message: 'user',
  assistant_message: 'assistant',
  system_notice: 'notice',
  tool_call: 'tool',
  tool_result: 'tool',
  approval_decision: 'decision',
};

const INCOMPLETE: ReadonlySet<string> = new Set(['max_tokens', 'content_filter', 'budget_pause']);

function answerState(stopReason: string): MessageState {
  if (stopReason === 'interrupted' || stopReason === 'error') return stopReason;
  return INCOMPLETE.has(stopReason) ? 'incomplete' : 'final';
}

// Nodes never change but by deletion and eviction, which make new objects: so a row is made once for each.
const rowsOfNodes = new WeakMap<ThreadNode, MessageRow>();

function nodeRow(node: ThreadNode, born: string | undefined): MessageRow {
  const key = born ?? node.id;
  const known = rowsOfNodes.get(node);
  if (known && known.key === key) return known;
  const role = ROLES[node.type] ?? 'notice';
  const origin = role === 'assistant' ? payload.originOf(node) : null;
  const usage = role === 'assistant' ? payload.usageOf(node) : null;
  const stopReason = payload.stopReasonOf(node);
  const row: MessageRow = {
    kind: 'message',
    key,
    role,
    state: role === 'assistant' ? answerState(stopReason) : 'saved',
    text: payload.textOf(node),
    reasoning: payload.reasoningOf(node),
    context: payload.contextOf(node),
    attached: payload.attachmentsOf(node),
    node,
    at: node.ts,
    ...(origin ? { origin } : {}),
    ...(usage ? { usage } : {}),
    ...(stopReason ? { stopReason } : {}),
    ...(role === 'tool' ? { tool: payload.toolOf(node) } : {}),
  };
  rowsOfNodes.set(node, row);
  return row;
}

const rowsOfItems = new WeakMap<LiveItem, MessageRow>();

function itemRow(item: LiveItem): MessageRow {
  const known = rowsOfItems.get(item);
  if (known) return known;
  const row: MessageRow = {
    kind: 'message',
    key: item.itemId,
    role: item.kind === 'reasoning' ? 'assistant' : (ROLES[item.kind] ?? 'assistant'),
    state: 'streaming',
    text: item.text,
    reasoning: item.reasoning,
    context: [],
    attached: [],
    at: 0,
  };
  rowsOfItems.set(item, row);
  return row;
}

const STATES: Readonly<Record<Pending['state'], MessageState>> = {
  storing: 'unsaved',
  waiting: 'unsaved',
  acked: 'saved',
  refused: 'refused',
  old: 'unconfirmed',
  foreign: 'unconfirmed',
};

/** The words of a command that are not in the tree yet, or null for commands without any. */
function pendingRow(pending: Pending): MessageRow | null {
  const { op } = pending;
  if ((op.type !== 'turn.submit' && op.type !== 'turn.fork' && op.type !== 'turn.steer') || !op.input) return null;
  return {
    kind: 'message',
    key: pending.submissionId,
    role: 'user',
    state: STATES[pending.state],
    text: payload.inputText(op.input),
    reasoning: '',
    context: op.input.attachedContext ?? [],
    attached: payload.attachmentsIn(op.input),
    pending,
    at: pending.at,
  };
}

const SHOWN_ITEMS: ReadonlySet<string> = new Set(['assistant_message', 'reasoning', 'tool_call']);

// While an answer grows its nodes stay the same: a long conversation is not walked through for each piece.
const rowsOfPaths = new WeakMap<Conversation['nodes'], { born: Conversation['born']; rows: readonly Row[] }>();

function pathRows({ nodes, born }: Conversation): readonly Row[] {
  const known = rowsOfPaths.get(nodes);
  if (known?.born === born) return known.rows;
  const rows = nodes.map((node) => nodeRow(node, born[node.id]));
  rowsOfPaths.set(nodes, { born, rows });
  return rows;
}

export function rowsOf(conversation: Conversation, pending: PanelState['pending']): Row[] {
  const { items, turn } = conversation;
  const rows: Row[] = [...pathRows(conversation)];
  const here = pending.filter((each) => 'threadId' in each.op && each.op.threadId === conversation.threadId);
  const bubbles = here.map(pendingRow).filter((row) => row !== null);
  // A message that is on its way to an idle thread comes before its answer; one sent meanwhile after it.
  rows.push(...bubbles.filter((row) => row.state === 'saved'));
  const live = items.filter((item) => SHOWN_ITEMS.has(item.kind) && (item.text || item.reasoning)).map(itemRow);
  rows.push(...live);
  if (turn && live.length === 0 && conversation.approvals.length === 0) {
    const progress = items.at(-1)?.progress;
    rows.push({ kind: 'thinking', key: `thinking:${turn.turnId}`, ...(progress === undefined ? {} : { progress }) });
  }
  for (const approval of conversation.approvals) rows.push({ kind: 'approval', key: approval.approvalId, approval });
  for (const interaction of conversation.interactions) {
    rows.push({ kind: 'interaction', key: interaction.interactionId, interaction });
  }
  if (!turn) for (const run of conversation.recoverable) rows.push({ kind: 'recovery', key: `run:${run.runId}`, run });
  rows.push(...endedRow(conversation));
  conversation.queue.forEach((run, at) => rows.push({ kind: 'queued', key: `queued:${run.runId}`, run, place: at + 1 }));
  rows.push(...bubbles.filter((row) => row.state !== 'saved'));
  return rows;
}

/** An end that the last node does not tell by itself: an error without any text. */
function endedRow({ ended, nodes, turn, recoverable }: Conversation): Row[] {
  if (!ended || turn || recoverable.length > 0 || ended.stopReason === 'end') return [];
  const last = nodes.at(-1);
  if (!ended.error && last?.type === 'assistant_message' && payload.stopReasonOf(last) !== '') return [];
  return [{ kind: 'ended', key: `ended:${ended.turnId}`, ended }];
}
