// Commands of which nobody knows whether they arrived: another store, or too old to be sent by themselves.
import type { JSX } from 'preact';
import { discard, sendAgain } from '../effects/unsent';
import { oneLine } from '../../text';
import { t } from '../i18n';
import type { Pending } from '../state/model';
import { inputText } from '../state/payload';
import { pending, shownId } from '../store';
import { TESTID } from '../testids';

/** Those that belong to the conversation on show stand there as messages. */
function elsewhere(): Pending[] {
  const here = shownId.value;
  return pending.value.filter(
    ({ state, op }) =>
      (state === 'old' || state === 'foreign' || state === 'refused') &&
      (!('threadId' in op) || op.threadId !== here || (op.type !== 'turn.submit' && op.type !== 'turn.fork')),
  );
}

function words({ op }: Pending): string {
  return 'input' in op && op.input ? oneLine(inputText(op.input), 80) : op.type;
}

export function Unconfirmed(): JSX.Element | null {
  const all = elsewhere();
  if (all.length === 0) return null;
  return (
    <details class="banner warn" data-testid={TESTID.unconfirmed}>
      <summary>{t('unconfirmedTitle', all.length)}</summary>
      <ul>
        {all.map((each) => (
          <li key={each.submissionId}>
            <span>{words(each)}</span>
            {each.op.type === 'turn.submit' && (
              <button type="button" class="button small" onClick={() => sendAgain(each)}>
                {t('sendAgain')}
              </button>
            )}
            <button type="button" class="button small quiet" onClick={() => discard(each)}>
              {t('discard')}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
