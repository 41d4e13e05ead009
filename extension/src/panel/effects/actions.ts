// What a person can do in the panel, as commands.
import { effect, signal, untracked } from '@preact/signals';
import { newId } from '../../ids';
import type { ContextBlock, ModelRef, UserInput } from '../../protocol';
import { cutText } from '../../text';
import { t } from '../i18n';
import { NO_DRAFT } from '../state/model';
import { attachmentsOf } from '../state/payload';
import { can, conversation, dispatch, drafts, threads } from '../store';
import { known } from './attachments';
import { exists } from './begun';
import { beside } from './beside';
import { addFiles, comeBack, type DraftFile, dropTakenUp, files, filesOf, sendOff, takeUp } from './files';
import { watchNew } from './live';
import { command, commands, make, type Made, Refusal } from './session';
import { sentence } from './sentences';

export function toast(text: string, kind: 'info' | 'error' = 'info'): void {
  dispatch({ type: 'toast', toast: { id: newId(), text, kind } });
}

/** Sends a command whose refusal is worth a word, and gives back whether it was done. */
export async function tell(sent: Promise<unknown>): Promise<boolean> {
  try {
    await sent;
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    toast(sentence(error.code, error.message), 'error');
    return false;
  }
}

/** The same for what moves the path that is on show: its new form is asked for, whoever else announces it. */
export async function tellAndLook(threadId: string, sent: Promise<unknown>): Promise<boolean> {
  const done = await tell(sent);
  if (done) dispatch({ type: 'snapshot.wanted', threadId });
  return done;
}

export function inputFrom(text: string, context: readonly ContextBlock[], attachmentIds: readonly string[] = []): UserInput {
  return {
    content: text === '' ? [] : [{ type: 'text', text }],
    ...(context.length > 0 ? { attachedContext: [...context] } : {}),
    ...(attachmentIds.length > 0 ? { attachmentIds: [...attachmentIds] } : {}),
  };
}

/** A message is one op of one frame; longer text goes as a file. */
export const LONGEST_MESSAGE = 1 << 20;

/** Chats whose message goes as soon as its files are at the companion. */
export const leaving = signal<ReadonlySet<string>>(new Set());

function leave(threadId: string, wanted: boolean): void {
  const next = new Set(leaving.peek());
  if (wanted) next.add(threadId);
  else next.delete(threadId);
  leaving.value = next;
}

export const stay = (threadId: string): void => leave(threadId, false);

/** Sends what is written, once its files are there; what cannot go stays as it is. */
export function sendDraft(threadId = conversation.peek().threadId): void {
  leave(threadId, false);
  const draft = drafts.peek()[threadId] ?? NO_DRAFT;
  const text = draft.text.trim();
  if (text === '' && filesOf(threadId).length === 0) return;
  if (new Blob([text]).size > LONGEST_MESSAGE) {
    addFiles(threadId, [new File([text.toWellFormed()], t('longTextName'), { type: 'text/plain' })]);
    dispatch({ type: 'draft', threadId, draft: { ...draft, text: '' } });
    toast(t('longTextAsFile'));
    sendDraft(threadId);
    return;
  }
  const together = filesOf(threadId);
  if (together.some((each) => each.state === 'failed')) {
    toast(t('filesFailed'), 'error');
    return;
  }
  if (together.some((each) => each.state !== 'there')) {
    leave(threadId, true);
    return;
  }
  const input = inputFrom(text, draft.context, together.flatMap((each) => each.attachmentId ?? []));
  const gone = sendOff(threadId);
  dispatch({ type: 'draft', threadId, draft: NO_DRAFT });
  if (draft.editing === undefined) submit(threadId, input, gone);
  else void tellAndLook(threadId, command('turn.fork', { threadId, siblingOfNodeId: draft.editing, input }));
}

/** Whether what is written can go into the answer that grows: words alone, and no older message's. */
export function canSteer(threadId: string): boolean {
  const draft = drafts.value[threadId] ?? NO_DRAFT;
  const isPlain = draft.editing === undefined && filesOf(threadId).length === 0;
  return can('turn.steer') && conversation.value.turn?.steerable === true && isPlain && draft.text.trim() !== '';
}

/** Adds what is written to the answer that grows; it is read at its next step. */
export function steerDraft(threadId = conversation.peek().threadId): void {
  const { turn } = conversation.peek();
  const draft = drafts.peek()[threadId] ?? NO_DRAFT;
  const text = draft.text.trim();
  if (!turn || !canSteer(threadId)) return;
  if (new Blob([text]).size > LONGEST_MESSAGE) return sendDraft(threadId);
  dispatch({ type: 'draft', threadId, draft: NO_DRAFT });
  const input = inputFrom(text, draft.context);
  // Refused, it stays in the conversation with the reason, and can be sent as a message of its own.
  void command('turn.steer', { threadId, expectedTurnId: turn.turnId, input }).then(
    () => toast(t('steered')),
    (error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    },
  );
  return undefined;
}

/** Messages that waited for their files go when these are there. */
export function sendWhenThere(): void {
  effect(() => {
    const waiting = [...leaving.value].filter((id) => !files.value.some((each) => each.threadId === id && (each.state === 'waiting' || each.state === 'sending')));
    if (waiting.length > 0) untracked(() => waiting.forEach((id) => sendDraft(id)));
  });
}

export function leaveEdit(threadId: string): void {
  dropTakenUp(threadId);
  dispatch({ type: 'draft', threadId, draft: NO_DRAFT });
}

/** Creation and first message go together, so that no empty thread is left behind. */
export function submit(threadId: string, input: UserInput, gone: readonly DraftFile[] = []): void {
  const fresh = !exists(threadId);
  const made: Made[] = fresh ? [make('thread.create', { threadId })] : [];
  const browserContext = beside.peek();
  made.push(make('turn.submit', { threadId, input, ...(browserContext ? { browserContext } : {}) }));
  void commands(made, () => {
    if (fresh) watchNew(threadId);
  }).catch((error: unknown) => {
    // The browser could not keep it: the words go back to where they can be seen.
    dispatch({ type: 'draft', threadId, draft: { text: textOfInput(input), context: input.attachedContext ?? [] } });
    comeBack(gone);
    toast(t('cannotKeep', error instanceof Error ? error.message : ''), 'error');
  });
}

function textOfInput(input: UserInput): string {
  return input.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n\n');
}

export function stop(): void {
  const { threadId, turn } = conversation.peek();
  if (turn) void tell(command('turn.interrupt', { threadId }));
}

export function newChat(): void {
  const { loaded, threadId } = conversation.peek();
  // The chat on show is still empty: it is the new one.
  dispatch({ type: 'thread.opened', threadId: loaded || exists(threadId) ? newId() : threadId, fresh: true });
}

export function openThread(threadId: string): void {
  const unborn = threads.peek()[threadId] === undefined;
  dispatch({ type: 'thread.opened', threadId, fresh: unborn });
  if (threads.peek()[threadId]?.unread) void tell(command('thread.update', { threadId, patch: { unread: false } }));
}

export function rename(threadId: string, title: string): void {
  void tell(command('thread.update', { threadId, patch: { title: cutText(title.trim(), 200) } }));
}

export function selectBranch(nodeId: string): void {
  const { threadId } = conversation.peek();
  void tellAndLook(threadId, command('thread.selectBranch', { threadId, nodeId }));
}

export function regenerate(nodeId: string, model?: ModelRef): void {
  const { threadId } = conversation.peek();
  const overrides = model === undefined ? {} : { overrides: { model } };
  void tellAndLook(threadId, command('turn.fork', { threadId, siblingOfNodeId: nodeId, ...overrides }));
}

export function edit(nodeId: string, text: string, context: readonly ContextBlock[]): void {
  const { threadId, nodes } = conversation.peek();
  const node = nodes.find((each) => each.id === nodeId);
  takeUp(threadId, node ? attachmentsOf(node).flatMap((id) => known.peek().get(id) ?? []).filter((each) => !each.evicted) : []);
  dispatch({ type: 'draft', threadId, draft: { text, context, editing: nodeId } });
}

export async function forkThread(atNodeId: string): Promise<void> {
  const { threadId } = conversation.peek();
  try {
    const answer = await command('thread.fork', { threadId, atNodeId, copy: 'path' });
    dispatch({ type: 'thread.opened', threadId: answer.threadId, fresh: false });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    toast(sentence(error.code, error.message), 'error');
  }
}

export function resume(runId: string): void {
  const { threadId } = conversation.peek();
  void tellAndLook(threadId, command('run.resume', { threadId, runId }));
}

export function resolveUncertain(runId: string, resolution: 'retry' | 'mark_done' | 'fail'): void {
  const { threadId } = conversation.peek();
  void tellAndLook(threadId, command('run.resolveUncertain', { threadId, runId, resolution }));
}

/** Leaves the partial answer as it is: the host writes it down as interrupted, and the queue goes on. */
export function keepPartial(runId: string): void {
  const { threadId } = conversation.peek();
  dispatch({ type: 'recovery.dismissed', runId });
  void tell(command('turn.interrupt', { threadId }));
}

export function removeQueued(runId: string): void {
  const { threadId } = conversation.peek();
  void tell(command('queue.remove', { threadId, runId }));
}
