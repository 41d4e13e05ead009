// All branches of a chat: how long each is, which one is on show; go to one, or delete it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Branch } from '../../protocol';
import { selectBranch } from '../effects/actions';
import { deleteBranch } from '../effects/removal';
import { ask, quietly } from '../effects/session';
import { locale, t } from '../i18n';
import { can, conversation } from '../store';
import { TESTID } from '../testids';
import { closeDialog, Dialog } from './Dialog';
import { Icon } from './Icon';

export function Branches({ threadId }: { threadId: string }): JSX.Element {
  const [branches, setBranches] = useState<readonly Branch[] | null>(null);
  const load = (): Promise<void> => quietly(async () => setBranches((await ask('branch.list', { threadId })).data.branches));
  useEffect(() => void load(), [threadId]);
  const idle = conversation.value.turn === null;
  return (
    <Dialog kind="branches" title={t('branchesOfChat')}>
      {branches === null ? (
        <p class="hint">{t('loading')}</p>
      ) : (
        <ul class="branch-list">
          {branches.map((branch) => (
            <li key={branch.leafId} class={`thread-item ${branch.active ? 'here' : ''}`} data-testid={TESTID.branchItem} data-leaf-id={branch.leafId} data-active={branch.active ? '1' : undefined}>
              <button
                type="button"
                class="open"
                disabled={!idle || !can('thread.selectBranch')}
                aria-current={branch.active ? 'true' : undefined}
                onClick={() => {
                  closeDialog();
                  if (!branch.active) selectBranch(branch.leafId);
                }}
              >
                <span class="name">{branch.name || t('newChat')}</span>
                <span class="detail">{[t('messages', branch.count), when(branch.ts)].join(' · ')}</span>
              </button>
              {branches.length > 1 && can('branch.delete') && (
                <button type="button" class="icon-button small" data-testid={TESTID.deleteBranch} disabled={!idle} onClick={() => void deleteBranch(threadId, branch.leafId).then(load)} aria-label={t('deleteBranch', branch.name ?? '')} title={t('deleteBranch', branch.name ?? '')}>
                  <Icon name="trash" size={15} />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      <p class="hint">{t('branchesHint')}</p>
    </Dialog>
  );
}

function when(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(at);
}
