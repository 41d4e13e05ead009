// Cards between messages: a run that can go on, an end without an answer, what waits.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { keepPartial, removeQueued, resolveUncertain, resume } from '../effects/actions';
import { sentence } from '../effects/sentences';
import { type MessageKey, t } from '../i18n';
import type { Ended } from '../state/model';
import { inputText } from '../state/payload';
import type { QueuedTurn, RecoverableRun } from '../../protocol';
import { can } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';
import { later } from './later';
import { Markdown } from './Markdown';

export function RecoveryCard({ run }: { run: RecoverableRun }): JSX.Element {
  const uncertain = run.state === 'paused_uncertain';
  const budget = run.state === 'paused_budget';
  const title = t(uncertain ? 'uncertainTitle' : budget ? 'budgetTitle' : 'recoveryTitle');
  const hint = budget ? t('budgetHint') : t('recoveryHint');
  return (
    <section class="card recovery" data-testid={TESTID.recoveryCard} data-run-id={run.runId} data-reason={run.reason} aria-label={title}>
      <h2>
        <Icon name="warning" size={16} /> {title}
      </h2>
      {run.partialText && (
        <div class="partial" data-testid={TESTID.messageBody}>
          <Markdown source={run.partialText} growing={false} />
        </div>
      )}
      <p class="hint">{uncertain ? t('uncertainHint', run.tool ?? '') : hint}</p>
      <div class="buttons">{uncertain ? <UncertainButtons run={run} /> : <InterruptedButtons run={run} />}</div>
    </section>
  );
}

function InterruptedButtons({ run }: { run: RecoverableRun }): JSX.Element {
  return (
    <>
      {can('run.resume') && (
        <button type="button" class="button primary" data-testid={TESTID.resume} onClick={() => resume(run.runId)}>
          {t('continueAnswer')}
        </button>
      )}
      {can('turn.interrupt') && (
        <button type="button" class="button" data-testid={TESTID.keepPartial} onClick={() => keepPartial(run.runId)}>
          {t('keepPartial')}
        </button>
      )}
    </>
  );
}

const RESOLUTIONS: readonly (readonly ['retry' | 'mark_done' | 'fail', MessageKey])[] = [
  ['retry', 'resolveRetry'],
  ['mark_done', 'resolveDone'],
  ['fail', 'resolveFail'],
];

function UncertainButtons({ run }: { run: RecoverableRun }): JSX.Element {
  return (
    <>
      {RESOLUTIONS.map(([resolution, label]) => (
        <button key={resolution} type="button" class="button" onClick={() => resolveUncertain(run.runId, resolution)}>
          {t(label)}
        </button>
      ))}
    </>
  );
}

const ENDS: Readonly<Record<string, MessageKey>> = {
  max_tokens: 'stopMaxTokens',
  content_filter: 'stopContentFilter',
  interrupted: 'stopInterrupted',
  budget_pause: 'stopBudget',
};

export function EndedCard({ ended }: { ended: Ended }): JSX.Element {
  const key = ENDS[ended.stopReason];
  return (
    <p class="ended" role="status" data-code={ended.error?.code ?? ended.stopReason}>
      <Icon name="warning" size={15} />{' '}
      {ended.error ? sentence(ended.error.code, ended.error.message) : t(key ?? 'stopError')}
      {ended.error?.message && <span class="detail">{ended.error.message}</span>}
    </p>
  );
}

const QueuedEdit = later(async () => (await import('./QueuedEdit')).QueuedEdit);

export function QueuedCard({ run, place }: { run: QueuedTurn; place: number }): JSX.Element {
  const [editing, setEditing] = useState(false);
  const words = inputText(run.input);
  return (
    <section class="card queued" data-testid={TESTID.queued} data-run-id={run.runId} aria-label={t('queuedTitle', place)}>
      <p class="hint">{t('queuedTitle', place)}</p>
      {editing ? <QueuedEdit run={run} words={words} onDone={() => setEditing(false)} /> : <p class="queued-text">{words}</p>}
      <div class="queued-actions">
        {can('queue.update') && !editing && (
          <button type="button" class="icon-button small" data-testid={TESTID.editQueued} onClick={() => setEditing(true)} aria-label={t('editQueued')} title={t('editQueued')}>
            <Icon name="edit" size={14} />
          </button>
        )}
        {can('queue.remove') && (
          <button type="button" class="icon-button small" onClick={() => removeQueued(run.runId)} aria-label={t('removeQueued')} title={t('removeQueued')}>
            <Icon name="close" size={14} />
          </button>
        )}
      </div>
    </section>
  );
}
