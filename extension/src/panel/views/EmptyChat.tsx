// A chat without messages: what can be done here, and what is missing for it.
import type { JSX } from 'preact';
import { attachHere, summariseHere } from '../effects/attaching';
import { restoreThread } from '../effects/removal';
import { t } from '../i18n';
import { can, connections, link, shownId, threads } from '../store';
import { CopyLine } from './CopyLine';
import { Icon } from './Icon';
import { usable } from './ModelChoice';

export function EmptyChat(): JSX.Element {
  return (
    <div class="empty">
      <div class="empty-mark" aria-hidden="true">
        <Icon name="chat" size={28} />
      </div>
      <h1>{t('emptyTitle')}</h1>
      <p>{t('emptyText')}</p>
      <div class="suggestions">
        <button type="button" class="button" onClick={() => void summariseHere()}>
          <Icon name="page" size={16} /> {t('summarisePage')}
        </button>
        <button type="button" class="button" onClick={() => void attachHere()}>
          <Icon name="plus" size={16} /> {t('askAboutPage')}
        </button>
      </div>
      {link.value.phase === 'ready' && <NoModel />}
    </div>
  );
}

/** Without a model only extracts are possible: says so, and what to do. */
function NoModel(): JSX.Element | null {
  const models = connections.value.filter((each) => usable(each) && each.kind !== 'extract');
  if (connections.value.length === 0 || models.length > 0) return null;
  return (
    <section class="card" data-testid="no-model">
      <h2>{t('noModelTitle')}</h2>
      <p>{t('noModelText')}</p>
      <CopyLine text="pip install 'sidekeep[local]'" />
    </section>
  );
}

export function MissingChat(): JSX.Element {
  const threadId = shownId.value;
  const trashed = threads.value[threadId]?.deletedAt !== undefined;
  return (
    <div class="empty" data-testid="missing-chat">
      <h1>{t(trashed ? 'trashedTitle' : 'missingTitle')}</h1>
      <p>{t(trashed ? 'trashedText' : 'missingText')}</p>
      {trashed && can('thread.restore') && (
        <button type="button" class="button" onClick={() => void restoreThread(threadId)}>
          {t('restore')}
        </button>
      )}
    </div>
  );
}
