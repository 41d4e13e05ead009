// All branches of a chat: how long each is, which one is on show; go to one, or delete it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Branch } from '../../protocol';
import { selectBranch } from '../effects/actions';
import { deleteBranch } from '../effects/removal';
import { ask, quietly } from '../effects/session';
import { t } from '../i18n';
import { can, running } from '../store';
import { TESTID } from '../testids';
import { dateAndTime } from './dates';
import { closeDialog, Dialog } from './Dialog';
import { Icon } from './Icon';

export function Branches({ threadId }: { threadId: string }): JSX.Element {
  const [branches, setBranches] = useState<readonly Branch[] | null>(null);
  useEffect(() => {
    void quietly(async () => setBranches((await ask('branch.list', { threadId })).data.branches));
  }, [threadId]);
  const idle = !running.value;
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
                <span class="detail">{[t('messages', branch.count), dateAndTime(branch.ts)].join(' · ')}</span>
              </button>
              {branches.length > 1 && can('branch.delete') && (
                <button type="button" class="icon-button small" data-testid={TESTID.deleteBranch} disabled={!idle} onClick={() => {
                    // Closed, so that the undo can be reached.
                    closeDialog();
                    void deleteBranch(threadId, branch.leafId);
                  }} aria-label={t('deleteBranch', branch.name ?? '')} title={t('deleteBranch', branch.name ?? '')}>
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
