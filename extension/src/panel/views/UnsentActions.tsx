// Under a message that is not on the companion's disk: how it stands, and what to do about it.
import type { JSX } from 'preact';
import { discard, sendAgain } from '../effects/unsent';
import { sentence } from '../effects/sentences';
import { t } from '../i18n';
import type { Pending } from '../state/model';
import type { MessageRow } from '../state/rows';
import { link } from '../store';

export function UnsentActions({ row, pending }: { row: MessageRow; pending: Pending }): JSX.Element {
  if (row.state === 'unsaved') {
    const held = pending.code ? sentence(pending.code, pending.message ?? '') : '';
    const text = link.value.phase === 'ready' ? t('sending') : t('notSavedYet');
    return (
      <p class="unsent" role="status">
        {held ? `${held} ${t('triedAgain')}` : text}
      </p>
    );
  }
  const why = row.state === 'refused' ? sentence(pending.code ?? '', pending.message ?? '') : t(pending.state === 'foreign' ? 'otherStore' : 'notConfirmed');
  return (
    <div class="unsent problem" role="status">
      <p>{why}</p>
      <button type="button" class="button small" onClick={() => sendAgain(pending)}>
        {t('sendAgain')}
      </button>
      <button type="button" class="button small quiet" onClick={() => discard(pending)}>
        {t('discard')}
      </button>
    </div>
  );
}
