// Goes to one message wherever it stands: in its chat, on its branch, however far up.
import { effect, signal } from '@preact/signals';
import { conversation, dispatch } from '../store';
import { openThread, tell } from './actions';
import { loadOlder } from './live';
import { command } from './session';

/** The message to bring into sight. A new object for each wish. */
export const sight = signal<{ readonly threadId: string; readonly nodeId: string } | null>(null);

/** Pages that are looked through before another branch is taken for its place. */
const PAGES_ABOVE = 5;

const isHere = (nodeId: string): boolean => conversation.peek().nodes.some((node) => node.id === nodeId);

/** False when it is not there any more, or the chat was left meanwhile. */
export async function goTo(threadId: string, nodeId: string): Promise<boolean> {
  openThread(threadId);
  if (!(await shows(threadId))) return false;
  if (!(await upTo(nodeId, PAGES_ABOVE))) {
    if (!(await tell(command('thread.selectBranch', { threadId, nodeId })))) return true;
    dispatch({ type: 'snapshot.wanted', threadId });
    if (!(await shows(threadId)) || !(await upTo(nodeId, Infinity))) return false;
  }
  sight.value = { threadId, nodeId };
  return true;
}

/** Pages up until the message is loaded. */
async function upTo(nodeId: string, most: number): Promise<boolean> {
  for (let pages = 0; !isHere(nodeId); pages += 1) {
    const { before } = conversation.peek();
    if (before === null || pages >= most) return false;
    await loadOlder();
    // Nothing came: another load is under way, or the host is gone.
    if (conversation.peek().before === before && !(await shows(conversation.peek().threadId))) return false;
    if (conversation.peek().before === before && !conversation.peek().paging) return isHere(nodeId);
  }
  return true;
}

/** Resolves once the chat is on show as the host has it; false when it is missing or was left. */
function shows(threadId: string): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const { threadId: shown, loaded, loading, stale, missing, paging } = conversation.value;
      const gone = shown !== threadId || missing;
      if (!gone && (!loaded || loading || stale || paging)) return;
      queueMicrotask(() => stop());
      resolve(!gone);
    });
  });
}
