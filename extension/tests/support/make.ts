// Small things of the wire, made as the host makes them.
import type { Attachment, Op, Page, RecoverableRun, ThreadMeta, ThreadNode, ThreadSnapshot, UserInput } from '../../src/protocol';
import type { Entry } from '../../src/outbox/entry';
import type { PanelEvent } from '../../src/panel/state/events';
import { initialState, type PanelState } from '../../src/panel/state/model';
import { reduce } from '../../src/panel/state/reduce';

/** A UUID of version 7 that shows its number. */
export const id = (number: number): string => `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
export const THREAD = id(0xaaa);

export function meta(changes: Partial<ThreadMeta> = {}): ThreadMeta {
  return {
    id: THREAD, title: 'Tides', createdAt: 1_000, updatedAt: 2_000, leafId: null, tags: [], pinned: false, archived: false,
    stats: { turns: 0, totalTokens: 0, costUsd: 0 }, scopeOrigins: [], revision: 1, agentId: 'main', source: 'panel',
    status: 'idle', unread: false, ...changes,
  };
}

type Said = Partial<Pick<ThreadNode, 'deleted' | 'effectiveParentId' | 'type' | 'ts'>> & { payload?: object };

function node(number: number, parent: number | null, type: ThreadNode['type'], text: string, said: Said): ThreadNode {
  const parentId = parent === null ? null : id(parent);
  const payload = type === 'system_notice' ? { text } : { content: [{ type: 'text', text }] };
  return {
    id: id(number), threadId: THREAD, parentId, effectiveParentId: parentId, seq: number, ts: number, type, digest: '00',
    ...said,
    payload: { ...payload, ...said.payload },
  } as unknown as ThreadNode;
}

export const user = (number: number, parent: number | null, text = `Q${number}`, said: Said = {}): ThreadNode =>
  node(number, parent, 'user_message', text, said);
export const answer = (number: number, parent: number | null, text = `A${number}`, said: Said = {}): ThreadNode =>
  node(number, parent, 'assistant_message', text, said);
export const notice = (number: number, parent: number | null, text: string, said: Said = {}): ThreadNode =>
  node(number, parent, 'system_notice', text, said);

/** A path of questions and answers, numbered from 1. */
export function path(length: number): ThreadNode[] {
  return Array.from({ length }, (_, at) => {
    const parent = at === 0 ? null : at;
    return at % 2 === 0 ? user(at + 1, parent) : answer(at + 1, parent);
  });
}

export function snapshot(nodes: readonly ThreadNode[], changes: Partial<ThreadSnapshot> = {}): ThreadSnapshot {
  return {
    thread: meta({ leafId: nodes.at(-1)?.id ?? null }), nodes: [...nodes], before: null, siblings: {}, activeTurn: null,
    approvals: [], interactions: [], queue: [], recoverable: [], ...changes,
  };
}

export function attachment(attachmentId: string, changes: Partial<Attachment> = {}): Attachment {
  return {
    id: attachmentId, threadId: THREAD, createdAt: 1_000, kind: 'image', mime: 'image/png', size: 1_536, sha256: 'ab'.repeat(32), trust: 'trusted',
    provenance: 'user', pinned: false, meta: { title: `${attachmentId}.png` }, ...changes,
  };
}

export function keptPage(pageId: string, changes: Partial<Page> = {}): Page {
  return { id: pageId, url: 'https://a.example/pools', title: 'Pools', capturedAt: 1_000, digest: '00', parts: [], text: '# Pools\n\nWater.', ...changes };
}

export const RUN = 'run-1';
export const TURN = 'turn-1';
export const recoverable = (changes: Partial<RecoverableRun> = {}): RecoverableRun => ({
  runId: RUN, turnId: TURN, state: 'interrupted', reason: 'runner_died', ...changes,
});

export const input = (text: string): UserInput => ({ content: [{ type: 'text', text }] });

export function submit(number: number, text = `Q${number}`, threadId = THREAD): Op {
  return { type: 'turn.submit', submissionId: id(number), clientId: 'profile', threadId, input: input(text) };
}

export const create = (number: number, threadId = THREAD): Op => ({
  type: 'thread.create', submissionId: id(number), clientId: 'profile', threadId,
});

export function entry(op: Op, changes: Partial<Entry> = {}): Entry {
  return { submissionId: op.submissionId, clientId: 'profile', storeId: 'store-1', writtenAt: 1_000, op, ...changes };
}

export const HOST = { version: '0.1.0', pid: 1, instanceId: 'host-1' };
export const LIMITS = {
  messageBytes: 8 << 20, uploadBytes: 64 << 20, chunkBytes: 1 << 18, snapshotNodes: 200, queue: 8, waitingOps: 32,
};
export const ready = (storeId = 'store-1', capabilities: readonly string[] = []) =>
  ({ phase: 'ready', host: HOST, storeId, capabilities, limits: LIMITS }) as const;

export const after = (state: PanelState, ...events: readonly PanelEvent[]): PanelState => events.reduce(reduce, state);

/** The thread on show, as its snapshot has it. */
export function showing(nodes: readonly ThreadNode[], changes: Partial<ThreadSnapshot> = {}): PanelState {
  return after(
    initialState(THREAD),
    { type: 'link', status: ready() },
    { type: 'snapshot.asked' },
    { type: 'snapshot', snapshot: snapshot(nodes, changes) },
  );
}

type Event = Extract<PanelEvent, { type: 'host' }>['event'];
export const host = (event: Event): PanelEvent => ({ type: 'host', event });
