// Under an answer: which model wrote it, whether it is whole, what it took.
import type { JSX } from 'preact';
import { type MessageKey, t } from '../i18n';
import type { MessageRow } from '../state/rows';
import { connections } from '../store';
import { TESTID } from '../testids';

const STOPS: Readonly<Record<string, MessageKey>> = {
  max_tokens: 'stopMaxTokens',
  content_filter: 'stopContentFilter',
  interrupted: 'stopInterrupted',
  error: 'stopError',
  budget_pause: 'stopBudget',
};

export function AnswerFoot({ row }: { row: MessageRow }): JSX.Element {
  const stop = STOPS[row.stopReason ?? ''];
  return (
    <div class="foot">
      {stop && <span class="stop-reason">{t(stop)}</span>}
      {row.origin && <ModelLabel connectionId={row.origin.connectionId} model={row.origin.model} />}
      {row.usage && row.usage.inputTokens + row.usage.outputTokens > 0 && (
        <span class="usage" title={t('usageTitle')}>
          {t('usage', row.usage.inputTokens.toLocaleString(), row.usage.outputTokens.toLocaleString())}
        </span>
      )}
    </div>
  );
}

function ModelLabel({ connectionId, model }: { connectionId: string; model: string }): JSX.Element {
  const connection = connections.value.find((each) => each.id === connectionId);
  const kind = connection?.kind ?? (connectionId === 'local' || connectionId === 'extract' ? connectionId : '');
  const label =
    kind === 'extract' ? t('labelExtract') : kind === 'local' ? `${model} · ${t('labelLocal')}` : [model, connection?.name].filter(Boolean).join(' · ');
  return (
    <span class={`model ${kind}`} data-testid={TESTID.modelLabel} data-connection={kind || 'unknown'}>
      {label}
    </span>
  );
}
