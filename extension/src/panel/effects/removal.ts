// Taking away and bringing back: chats, messages, branches; what was done can be undone from its toast.
import { newId } from '../../ids';
import { t } from '../i18n';
import type { Toast, Undo } from '../state/model';
import { can, conversation, dispatch, state } from '../store';
import { tell, tellAndLook, toast } from './actions';
import { command, commands, listen, make } from './session';

function say(text: string, undo: Undo, op: string): void {
  const said: Toast = { id: newId(), text, kind: 'info', ...(can(op) ? { undo } : {}) };
  dispatch({ type: 'toast', toast: said });
}

export async function archive(threadId: string, archived: boolean): Promise<void> {
  if (!(await tell(command('thread.update', { threadId, patch: { archived } })))) return;
  say(t(archived ? 'threadArchived' : 'threadUnarchived'), { op: 'thread.update', threadId, patch: { archived: !archived } }, 'thread.update');
}

export async function deleteThread(threadId: string): Promise<void> {
  if (conversation.peek().threadId === threadId) {
    dispatch({ type: 'thread.opened', threadId: newId(), fresh: true, stay: true });
  }
  if (!(await tell(command('thread.delete', { threadId })))) return;
  say(t('threadDeleted'), { op: 'thread.restore', threadId }, 'thread.restore');
}

export async function purgeThread(threadId: string): Promise<void> {
  if (await tell(command('thread.delete', { threadId, purge: true }))) toast(t('threadPurged'));
}

export async function restoreThread(threadId: string): Promise<void> {
  if (!(await tell(command('thread.restore', { threadId })))) return;
  toast(t('threadRestored'));
  dispatch({ type: 'snapshot.wanted', threadId });
}

export async function deleteNode(nodeId: string): Promise<void> {
  const { threadId } = conversation.peek();
  if (!(await tellAndLook(threadId, command('node.delete', { threadId, nodeId })))) return;
  say(t('messageDeleted'), { op: 'node.restore', threadId, nodeId }, 'node.restore');
}

/** Which messages went with a branch: child → parent, as the host tells them after its answer. */
const gone = new Map<string, Map<string, string | null>>();

export async function deleteBranch(threadId: string, leafId: string): Promise<void> {
  const heard = new Map<string, string | null>();
  gone.set(leafId, heard);
  const stop = listen((event) => {
    if (event.type !== 'thread.node' || event.threadId !== threadId || event.node.deleted !== true) return;
    heard.set(event.node.id, event.node.parentId);
  });
  if (!(await tellAndLook(threadId, command('branch.delete', { threadId, leafId })))) {
    stop();
    gone.delete(leafId);
    return;
  }
  setTimeout(stop, HEARD_BY);
  say(t('branchDeleted'), { op: 'branch.restore', threadId, leafId }, 'node.restore');
}

/** Events follow their answer at once. */
const HEARD_BY = 2_000;

/** From the tip upwards, as far as it went with the branch. */
function tailOf(leafId: string): string[] {
  const heard = gone.get(leafId);
  const tail: string[] = [];
  for (let id: string | null | undefined = leafId; id && heard?.has(id); id = heard.get(id)) tail.push(id);
  return tail;
}

function restoreBranch(threadId: string, leafId: string): void {
  const tail = tailOf(leafId);
  gone.delete(leafId);
  const restored = tail.map((nodeId) => make('node.restore', { threadId, nodeId }));
  const all = commands([...restored, make('thread.selectBranch', { threadId, nodeId: leafId })]);
  void tellAndLook(threadId, all.then((answers) => Promise.all(answers)));
}

async function undoRewind(threadId: string, undoId: string): Promise<void> {
  const { run } = await import('./jobs');
  const { problem } = await run('session.undoRewind', { threadId, undoId });
  toast(problem ?? t('rewindUndone'), problem === null ? 'info' : 'error');
  dispatch({ type: 'snapshot.wanted', threadId });
}

export function undo(toastId: string): void {
  const deed = state.peek().toasts.find((each) => each.id === toastId)?.undo;
  dispatch({ type: 'toast.gone', id: toastId });
  switch (deed?.op) {
    case 'thread.restore':
      void restoreThread(deed.threadId);
      break;
    case 'thread.update':
      void tell(command('thread.update', { threadId: deed.threadId, patch: deed.patch }));
      break;
    case 'node.restore':
      void tellAndLook(deed.threadId, command('node.restore', { threadId: deed.threadId, nodeId: deed.nodeId }));
      break;
    case 'branch.restore':
      restoreBranch(deed.threadId, deed.leafId);
      break;
    case 'session.undoRewind':
      void undoRewind(deed.threadId, deed.undoId);
      break;
  }
}
