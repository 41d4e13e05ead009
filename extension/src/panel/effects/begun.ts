// A chat must be there before anything can be attached to it: says whether it is, and creates it.
import { conversation, pending, threads } from '../store';
import { watchNew } from './live';
import { commands, make } from './session';

/** True when the host has (or will have, by the outbox) this chat. */
export function exists(threadId: string): boolean {
  const { loaded, threadId: shown } = conversation.peek();
  return (
    (loaded && shown === threadId) ||
    threads.peek()[threadId] !== undefined ||
    beginning.has(threadId) ||
    pending.peek().some(({ op }) => op.type === 'thread.create' && op.threadId === threadId)
  );
}

/** Several files begin a chat together: it is created once. */
const beginning = new Map<string, Promise<void>>();

async function create(threadId: string): Promise<void> {
  const [answer] = await commands([make('thread.create', { threadId })], () => watchNew(threadId));
  await answer;
}

/** Resolves once the host has the chat. Raises Refusal. */
export async function begun(threadId: string): Promise<void> {
  if (!exists(threadId)) {
    beginning.set(threadId, create(threadId).finally(() => beginning.delete(threadId)));
  }
  await beginning.get(threadId);
}
