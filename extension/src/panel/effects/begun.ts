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
    pending.peek().some(({ op }) => op.type === 'thread.create' && op.threadId === threadId)
  );
}

/** Resolves once the host has the chat. Raises Refusal. */
export async function begun(threadId: string): Promise<void> {
  if (exists(threadId)) return;
  const [answer] = await commands([make('thread.create', { threadId })], () => watchNew(threadId));
  await answer;
}
