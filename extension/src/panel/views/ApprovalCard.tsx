// A call of a tool that the person decides about: once, for the chat, for the site, not, or the end of the answer.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PendingApproval } from '../../protocol';
import { siteOf } from '../capture/sites';
import { decide } from '../effects/decisions';
import { type MessageKey, t } from '../i18n';
import { TESTID } from '../testids';
import { Countdown } from './Countdown';

/** As docs/tools.md has it; what a host of another version leaves out is not shown. */
interface Asked {
  readonly tool?: string;
  readonly title?: string;
  readonly params?: string;
  readonly reason?: string;
  readonly origin?: string;
  readonly url?: string;
}

const REASONS: Readonly<Record<string, MessageKey>> = {
  policy: 'reasonPolicy',
  rule: 'reasonRule',
  sensitive_payload: 'reasonPayload',
  sensitive_site: 'reasonSite',
};

export function ApprovalCard({ approval }: { readonly approval: PendingApproval }): JSX.Element {
  const { approvalId, deadlineAt } = approval;
  const { tool = '', title = '', params = '', reason = '', origin = '', url = '' } = approval.request as Asked;
  const [note, setNote] = useState('');
  const site = siteOf(origin);
  const why = REASONS[reason];
  const head = title || t('approvalTitle', tool);
  return (
    <section class="card approval" role="group" data-testid={TESTID.approval} data-tool={tool} data-approval-id={approvalId} aria-label={head}>
      <p class="hint">
        {t('askedFor')} · <Countdown until={deadlineAt} />
      </p>
      <h2>{head}</h2>
      {(url || origin) && <p class="address" dir="ltr">{url || origin}</p>}
      {why && <p class="hint">{t(why)}</p>}
      {params && params !== '{}' && (
        <details>
          <summary>{t('arguments')}</summary>
          <pre tabindex={0}>{params}</pre>
        </details>
      )}
      <div class="buttons">
        <button type="button" class="button primary" data-testid={TESTID.allowOnce} onClick={() => decide(approvalId, 'accept')}>
          {t('allowOnce')}
        </button>
        <button type="button" class="button" data-testid={TESTID.allowSession} onClick={() => decide(approvalId, 'acceptForSession')}>
          {t('allowHere')}
        </button>
        {site && (
          <button type="button" class="button" data-testid={TESTID.allowSite} onClick={() => decide(approvalId, 'acceptForSite')}>
            {t('allowSite', site)}
          </button>
        )}
      </div>
      <form
        class="declining"
        onSubmit={(event) => {
          event.preventDefault();
          decide(approvalId, 'decline', note);
        }}
      >
        <input
          data-testid={TESTID.declineNote}
          value={note}
          dir="auto"
          placeholder={t('declineNote')}
          aria-label={t('declineNote')}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        <div class="buttons">
          <button type="submit" class="button" data-testid={TESTID.decline}>
            {t('decline')}
          </button>
          <button type="button" class="button" data-testid={TESTID.cancelTurn} onClick={() => decide(approvalId, 'cancel')}>
            {t('cancelTurn')}
          </button>
        </div>
      </form>
    </section>
  );
}
