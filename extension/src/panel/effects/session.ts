// The panel's end of the channel to the worker: asks, commands, and coming back when the worker was stopped.
import { type FromWorker, PANEL_PORT, type ToWorker } from '../../channel';
import { newId } from '../../ids';
import { afterRejection } from '../../outbox/entry';
import { outbox } from '../../outbox/outbox';
import type { AnswerOf, CommandRejected, Heard, Op, OpType, Wanted } from '../../protocol';
import { wellFormed } from '../../text';
import { dispatch, state } from '../store';
import { Inflow } from './inflow';

/** Why an op was not done. `not_connected` is the panel's own code. */
export class Refusal extends Error {
  constructor(readonly code: string, message: string, readonly answer: CommandRejected | null = null) {
    super(message);
  }
}

/** Runs an asking and leaves it at that when the host goes away meanwhile: it is asked again then. */
export async function quietly(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/** This panel's own client, for its subscriptions; commands go under the profile's. */
const panelClient = newId();
const answers = new Map<string, { resolve: (event: Heard) => void; reject: (refusal: Refusal) => void }>();

let port: chrome.runtime.Port | null = null;
let welcome: () => void = () => undefined;
/** Resolves once the worker has said under which client commands go. */
const welcomed = new Promise<void>((resolve) => {
  welcome = resolve;
});

export function connect(fresh: boolean): void {
  const opened = chrome.runtime.connect({ name: PANEL_PORT });
  port = opened;
  opened.onMessage.addListener((message: FromWorker) => receive(message));
  opened.onDisconnect.addListener(() => {
    port = null;
    for (const submissionId of [...answers.keys()]) if (asked.has(submissionId)) notConnected(submissionId);
    dispatch({ type: 'link', status: { phase: 'connecting' } });
    // The worker was stopped or replaced; connecting starts it again. After a reload of the extension there is none.
    if (chrome.runtime?.id) setTimeout(() => connect(false), 50);
  });
  say({ kind: 'hello', clientId: panelClient, fresh });
}

function say(message: ToWorker): void {
  try {
    port?.postMessage(message);
  } catch {
    // The port closed in this very moment; its disconnect listener takes over.
  }
}

const listeners = new Set<(event: Heard) => void>();

/** Hears every event of the host, after the state has taken it in. Gives back how to stop. */
export function listen(listener: (event: Heard) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function retry(): void {
  say({ kind: 'retry' });
}

const asked = new Set<string>();

function receive(message: FromWorker): void {
  switch (message.kind) {
    case 'welcome':
      dispatch({ type: 'welcome', clientId: message.clientId, storeId: message.storeId });
      welcome();
      void readOutbox();
      return;
    case 'link':
      inflow.flush();
      dispatch({ type: 'link', status: message.status });
      // What is "for another store" depends on which store answers.
      if (message.status.phase === 'ready') void readOutbox();
      return;
    case 'outbox':
      void readOutbox();
      return;
    case 'event': {
      // Here, where it leaves the wire, an event gets its type: the host's structs say the same.
      inflow.push(message.event as unknown as Heard);
    }
  }
}

const inflow = new Inflow<Heard>(
  (event) => event.type === 'item.delta',
  (event) => {
    dispatch({ type: 'host', event });
    settle(event);
    for (const listener of listeners) listener(event);
  },
);

function settle(event: Heard): void {
  if (!('submissionId' in event)) return;
  const { submissionId } = event;
  const waiting = answers.get(submissionId);
  if (!waiting) return;
  if (event.type === 'local.not_connected') {
    // A kept command is still in the outbox: its answer comes later.
    if (asked.has(submissionId)) notConnected(submissionId);
    return;
  }
  if (event.type === 'command.rejected') {
    const { code, message, retryable } = event;
    // What the worker sends again by itself is not decided yet.
    if (!asked.has(submissionId) && ['again', 'hold'].includes(afterRejection('', code, retryable))) return;
    waiting.reject(new Refusal(code, message, event));
  } else {
    waiting.resolve(event);
  }
  answers.delete(submissionId);
  asked.delete(submissionId);
}

function notConnected(submissionId: string): void {
  answers.get(submissionId)?.reject(new Refusal('not_connected', ''));
  answers.delete(submissionId);
  asked.delete(submissionId);
}

export async function readOutbox(): Promise<void> {
  dispatch({ type: 'outbox.read', entries: await outbox.all(), now: Date.now() });
}

function answerTo(submissionId: string): Promise<Heard> {
  return new Promise((resolve, reject) => answers.set(submissionId, { resolve, reject }));
}

function opFor<K extends OpType>(type: K, wanted: Wanted<K>, clientId: string): Op {
  return { type, submissionId: newId(), clientId, ...wellFormed(wanted) } as unknown as Op;
}

/** A query, or a command that is never kept (secrets). Rejects at once when there is no host. */
export async function ask<K extends OpType>(type: K, wanted: Wanted<K>): Promise<AnswerOf<K>> {
  const op = opFor(type, wanted, panelClient);
  if (!port) throw new Refusal('not_connected', '');
  asked.add(op.submissionId);
  const answer = answerTo(op.submissionId);
  say({ kind: 'op', op });
  return answer as Promise<unknown> as Promise<AnswerOf<K>>;
}

/** A command: on disk here, then on its way. The promise is for its answer, which may come after a reconnect. */
export async function command<K extends OpType>(type: K, wanted: Wanted<K>): Promise<AnswerOf<K>> {
  const [answer] = await commands([make(type, wanted)]);
  return answer as Promise<unknown> as Promise<AnswerOf<K>>;
}

export type Made = () => Op;

export function make<K extends OpType>(type: K, wanted: Wanted<K>): Made {
  return () => opFor(type, wanted, state.peek().profileId);
}

/** Several commands, kept in one transaction and sent in this order. */
export async function commands(made: readonly Made[], between?: () => void): Promise<Promise<Heard>[]> {
  await welcomed;
  const ops = made.map((each) => each());
  const at = Date.now();
  const answered = ops.map((op) => {
    dispatch({ type: 'command.made', op, at });
    const answer = answerTo(op.submissionId);
    // Whoever does not wait for it still hears of a refusal through the state.
    answer.catch(() => undefined);
    return answer;
  });
  const { storeId, profileId } = state.peek();
  await outbox.put(
    ops.map((op) => ({ submissionId: op.submissionId, clientId: profileId, storeId, writtenAt: at, op })),
  );
  ops.forEach((op, index) => {
    dispatch({ type: 'command.stored', submissionId: op.submissionId });
    say({ kind: 'op', op });
    if (index === 0) between?.();
  });
  return answered;
}
