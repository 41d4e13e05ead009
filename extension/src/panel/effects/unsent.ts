// What a person decides about a message that was refused, or of which nobody knows whether it arrived.
import { outbox } from '../../outbox/outbox';
import type { Pending } from '../state/model';
import { inputText } from '../state/payload';
import { dispatch } from '../store';
import { submit } from './actions';
import { command, readOutbox } from './session';

async function forget(pending: Pending): Promise<void> {
  dispatch({ type: 'command.dropped', submissionId: pending.submissionId });
  await outbox.remove(pending.submissionId);
  await readOutbox();
}

/** As a new command, to the store that is there now. The old one is gone from the outbox only after that. */
export function sendAgain(pending: Pending): void {
  const { op } = pending;
  // The answer that it was to be added to is over: a message of its own.
  if (op.type === 'turn.submit' || op.type === 'turn.steer') submit(op.threadId, op.input);
  else if (op.type === 'turn.fork') {
    void command('turn.fork', {
      threadId: op.threadId,
      siblingOfNodeId: op.siblingOfNodeId,
      ...(op.input ? { input: op.input } : {}),
    }).catch(() => undefined);
  }
  void forget(pending);
}

/** Throws the message away, but puts its words back into the field they came from. */
export function discard(pending: Pending): void {
  const { op } = pending;
  if ((op.type === 'turn.submit' || op.type === 'turn.fork' || op.type === 'turn.steer') && op.input) {
    const draft = { text: inputText(op.input), context: op.input.attachedContext ?? [] };
    dispatch({ type: 'draft', threadId: op.threadId, draft });
  }
  void forget(pending);
}
