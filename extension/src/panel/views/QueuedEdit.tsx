// A message that waits, said otherwise.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { QueuedTurn, UserInput } from '../../protocol';
import { tell } from '../effects/actions';
import { command } from '../effects/session';
import { t } from '../i18n';
import { conversation } from '../store';
import { TESTID } from '../testids';

/** Its attachments stay. Refused once it has begun. */
function change(run: QueuedTurn, text: string): Promise<boolean> {
  const { threadId } = conversation.peek();
  const others = run.input.content.filter((block) => block.type !== 'text');
  const input: UserInput = { ...run.input, content: [...others, { type: 'text', text: text.toWellFormed() }] };
  return tell(command('queue.update', { threadId, runId: run.runId, input }));
}

export function QueuedEdit({ run, words, onDone }: { run: QueuedTurn; words: string; onDone(): void }): JSX.Element {
  const [text, setText] = useState(words);
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        void change(run, text.trim()).then((done) => done && onDone());
      }}
    >
      <textarea data-testid={TESTID.queuedText} rows={3} value={text} autofocus aria-label={t('editQueued')} onInput={(event) => setText(event.currentTarget.value)} />
      <div class="buttons">
        <button type="submit" class="button small primary" data-testid={TESTID.saveQueued} disabled={text.trim() === ''}>
          {t('save')}
        </button>
        <button type="button" class="button small" onClick={onDone}>
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}
