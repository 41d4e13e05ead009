// Connections to models: what there is, and a form for a new one or a change.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Connection } from '../../protocol';
import { deleteConnection, verify, type Verdict } from '../effects/setup';
import { type MessageKey, t } from '../i18n';
import { can, connections } from '../store';
import { TESTID } from '../testids';
import { ConnectionForm } from './ConnectionForm';
import { CopyLine } from './CopyLine';
import { Icon } from './Icon';

const STEPS: Readonly<Record<string, MessageKey>> = { reachable: 'stepReachable', key: 'stepKey', streaming: 'stepStreaming', tools: 'stepTools' };

const builtIn = (connection: Connection): boolean => connection.kind === 'local' || connection.kind === 'extract';

export function Connections(): JSX.Element {
  const [edited, setEdited] = useState<string | null>(null);
  return (
    <>
      <ul class="connections">
        {connections.value.map((connection) =>
          edited === connection.id ? (
            <li key={connection.id}>
              <ConnectionForm connection={connection} onDone={() => setEdited(null)} />
            </li>
          ) : (
            <ConnectionItem key={connection.id} connection={connection} onEdit={() => setEdited(connection.id)} />
          ),
        )}
      </ul>
      {edited === '' ? (
        <ConnectionForm onDone={() => setEdited(null)} />
      ) : (
        can('connection.save') && (
          <button type="button" class="button" data-testid="add-connection" onClick={() => setEdited('')}>
            {t('addConnection')}
          </button>
        )
      )}
    </>
  );
}

function ConnectionItem({ connection, onEdit }: { connection: Connection; onEdit(): void }): JSX.Element {
  const [verdict, setVerdict] = useState<Verdict | 'asking' | null>(null);
  const missing = connection.installed === false;
  const check = (): void => {
    setVerdict('asking');
    void verify(connection.id).then(setVerdict);
  };
  return (
    <li class="connection" data-testid={TESTID.connectionItem} data-kind={connection.kind}>
      <p class="name">{connection.kind === 'extract' ? t('extractName') : connection.name}</p>
      <p class="hint">{hint(connection)}</p>
      {missing && connection.kind === 'local' && <CopyLine text="pip install 'sidekeep[local]'" />}
      {!builtIn(connection) && (
        <div class="buttons">
          <button type="button" class="button small" onClick={onEdit}>
            {t('change')}
          </button>
          {can('connection.verify') && (
            <button type="button" class="button small" disabled={verdict === 'asking'} onClick={check}>
              {t(verdict === 'asking' ? 'verifying' : 'verify')}
            </button>
          )}
          {can('connection.delete') && (
            <button type="button" class="button small quiet" onClick={() => deleteConnection(connection.id)}>
              {t('remove')}
            </button>
          )}
        </div>
      )}
      {verdict !== null && verdict !== 'asking' && verdict.steps.length > 0 && (
        <ol class="steps" aria-label={t('verify')}>
          {verdict.steps.map((step) => (
            <li key={step.name} data-testid={TESTID.verifyStep} data-step={step.name} data-ok={step.ok ? '1' : '0'}>
              <Icon name={step.ok ? 'check' : 'warning'} size={14} /> {t(STEPS[step.name] ?? 'stepOther')}
              {!step.ok && step.message ? `: ${step.message}` : ''}
            </li>
          ))}
        </ol>
      )}
      {verdict !== null && verdict !== 'asking' && (
        <p class={verdict.ok ? 'good' : 'problem'} role="status">
          {verdict.ok ? t('verified') : verdict.message}
        </p>
      )}
    </li>
  );
}

function hint(connection: Connection): string {
  if (connection.kind === 'extract') return t('extractHint');
  if (connection.kind === 'local') return connection.installed === false ? t('localMissing') : t('localHint');
  return [connection.baseUrl, (connection.modelIds ?? []).join(', ')].filter(Boolean).join(' · ');
}
