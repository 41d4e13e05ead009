// Says how the companion is: nothing when all is well, else what is wrong, what to do, and a button.
import type { JSX } from 'preact';
import type { LinkCode, LinkStatus } from '../../channel';
import { restoreThread } from '../effects/removal';
import { sentence } from '../effects/sentences';
import { retry } from '../effects/session';
import { type MessageKey, t } from '../i18n';
import { can, link, loaded, storageWarning, thread } from '../store';
import { TESTID } from '../testids';
import { CopyLine } from './CopyLine';
import { Icon } from './Icon';

interface Explained { readonly what: MessageKey; readonly todo: MessageKey; readonly command?: string }

const CAUSES: Readonly<Record<LinkCode, Explained>> = {
  not_found: { what: 'hostNotFound', todo: 'hostNotFoundTodo', command: 'sidekeep install' },
  forbidden: { what: 'hostForbidden', todo: 'hostForbiddenTodo', command: 'sidekeep install' },
  exited: { what: 'hostExited', todo: 'hostDoctorTodo', command: 'sidekeep doctor' },
  communication: { what: 'hostCommunication', todo: 'hostDoctorTodo', command: 'sidekeep doctor' },
  start_failed: { what: 'hostStartFailed', todo: 'hostDoctorTodo', command: 'sidekeep doctor' },
  invalid_name: { what: 'hostInvalidName', todo: 'hostInvalidNameTodo' },
  policy: { what: 'hostPolicy', todo: 'hostPolicyTodo' },
  silent: { what: 'hostSilent', todo: 'hostDoctorTodo', command: 'sidekeep doctor' },
  reload_required: { what: 'hostReload', todo: 'hostReloadTodo', command: 'pip install --upgrade sidekeep' },
  forbidden_origin: { what: 'hostForbiddenOrigin', todo: 'hostForbiddenOriginTodo' },
  unknown: { what: 'hostUnknown', todo: 'hostDoctorTodo', command: 'sidekeep doctor' },
};

function codeOf(status: LinkStatus): string {
  if (status.phase === 'ready') return 'connected';
  return status.phase === 'down' || status.phase === 'refused' ? status.code : status.phase;
}

export function HostStatus(): JSX.Element {
  const status = link.value;
  return (
    <div class="host-status" data-testid={TESTID.hostStatus} data-phase={status.phase} data-code={codeOf(status)} role="status">
      <Words status={status} />
      {status.phase === 'ready' && storageWarning.value !== null && (
        <p class="banner warn" data-testid={TESTID.storageWarning}>
          <Icon name="warning" size={16} /> <span>{t('storageWarning', Math.round(storageWarning.value))}</span>
        </p>
      )}
      {thread.value?.deletedAt !== undefined && loaded.value && (
        <p class="banner warn">
          <Icon name="trash" size={16} /> <span>{t('trashedTitle')}</span>
          <RestoreButton threadId={thread.value.id} />
        </p>
      )}
    </div>
  );
}

function RestoreButton({ threadId }: { threadId: string }): JSX.Element | null {
  if (!can('thread.restore')) return null;
  return (
    <button type="button" class="link" onClick={() => void restoreThread(threadId)}>
      {t('restore')}
    </button>
  );
}

function Words({ status }: { status: LinkStatus }): JSX.Element | null {
  switch (status.phase) {
    case 'ready':
      return null;
    case 'connecting':
      return <p class="banner late">{t('connecting')}</p>;
    case 'opening':
      return <p class="banner late">{status.pct === undefined ? t('opening') : t('openingProgress', status.what ?? '', Math.round(status.pct))}</p>;
    case 'refused':
      return (
        <section class="banner bad">
          <h2>{t('storeUnavailable')}</h2>
          <p>{sentence(status.code, status.message)}</p>
          {status.message && <p class="detail">{status.message}</p>}
          <div class="buttons">
            <RetryButton />
          </div>
        </section>
      );
    case 'down':
      return <Down status={status} />;
  }
}

function Down({ status }: { status: Extract<LinkStatus, { phase: 'down' }> }): JSX.Element {
  const { what, todo, command } = CAUSES[status.code];
  return (
    <section class="banner bad">
      <h2>{t('storeUnavailable')}</h2>
      <p>{t(what)}</p>
      <p>{t(todo)}</p>
      {command && <CopyLine text={command} />}
      {status.detail && <p class="detail">{status.detail}</p>}
      <p class="hint">{t('nothingLost')}</p>
      <div class="buttons">
        <RetryButton />
        <span class="hint">{t(status.retryAt === null ? 'gaveUp' : 'triedAgain')}</span>
      </div>
    </section>
  );
}

function RetryButton(): JSX.Element {
  return (
    <button type="button" class="button" data-testid={TESTID.retry} onClick={retry}>
      {t('retry')}
    </button>
  );
}
