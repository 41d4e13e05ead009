// What was committed of a chat: a line for each turn, with its model and usage.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SessionCommit } from '../../protocol';
import { ask, quietly } from '../effects/session';
import { t } from '../i18n';
import { TESTID } from '../testids';
import { dateAndTime } from './dates';
import { Dialog } from './Dialog';

/** The lines of a commit's message that people read: model and usage. */
function about(message: string): string {
  const found = /^Model: (.*)$/m.exec(message)?.[1];
  const usage = /^Usage: (.*)$/m.exec(message)?.[1];
  return [found, usage].filter(Boolean).join(' · ');
}

export function History({ threadId }: { threadId: string }): JSX.Element {
  const [commits, setCommits] = useState<readonly SessionCommit[] | null>(null);
  useEffect(() => {
    void quietly(async () => setCommits((await ask('session.commits', { threadId, limit: 200 })).data.commits));
  }, [threadId]);
  return (
    <Dialog kind="history" title={t('history')}>
      {commits === null && <p class="hint">{t('loading')}</p>}
      {commits?.length === 0 && <p class="hint">{t('historyEmpty')}</p>}
      <ul class="branch-list">
        {commits?.map((commit) => (
          <li key={commit.id} class="connection" data-testid={TESTID.commit} data-turn-id={commit.turnId ?? undefined}>
            <p class="name">{commit.message.split('\n', 1)[0]}</p>
            <p class="hint">{[dateAndTime(commit.ts), about(commit.message), commit.id.slice(0, 10)].filter(Boolean).join(' · ')}</p>
          </li>
        ))}
      </ul>
      <p class="hint">{t('historyHint')}</p>
    </Dialog>
  );
}
