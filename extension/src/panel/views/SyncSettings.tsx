// The same conversations on several machines: the remote, how far it is, and a button.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { run } from '../effects/jobs';
import { ask, command, listen, quietly } from '../effects/session';
import { t } from '../i18n';
import { can, link } from '../store';
import type { SyncState } from '../../protocol';
import { TESTID } from '../testids';
import { dateAndTime } from './dates';

interface Report { readonly sessions: number; readonly sent: number; readonly received: number; readonly faults: Readonly<Record<string, readonly string[]>> }

export function SyncSettings(): JSX.Element {
  const [state, setState] = useState<SyncState>({ remote: null });
  const [remote, setRemote] = useState('');
  const [said, setSaid] = useState<{ readonly ok: boolean; readonly text: string } | null>(null);
  const [job, setJob] = useState('');
  const [note, setNote] = useState('');
  const ready = link.value.phase === 'ready';
  useEffect(() => {
    if (!ready) return undefined;
    const load = (): void =>
      void quietly(async () => {
        const { data } = await ask('sync.status', {});
        setState(data);
        setRemote((now) => now || (data.remote ?? ''));
      });
    load();
    return listen((event) => {
      if (event.type === 'store.changed' && event.kind === 'sync') load();
      if (event.type === 'job.progress') {
        setJob(event.jobId);
        setNote(event.note);
      }
    });
  }, [ready]);
  const [busy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    setSaid(null);
    setNote('');
    const { data, problem } = await run<Report>('sync.start', { remote: remote.trim() });
    setBusy(false);
    setJob('');
    if (problem !== null) setSaid({ ok: false, text: problem });
    else if (data) {
      const faults = Object.values(data.faults).flat();
      setSaid({ ok: faults.length === 0, text: [t('syncDone', data.sessions, data.sent, data.received), ...faults.slice(0, 3)].join(' ') });
    }
  };
  return (
    <form
      data-testid={TESTID.sync}
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <p class="hint">{t('syncHint')}</p>
      <label class="field">
        <span>{t('syncRemote')}</span>
        <input name="remote" value={remote} maxLength={4_096} spellcheck={false} autocapitalize="off" placeholder="git@example.org:me/conversations.git" onInput={(event) => setRemote(event.currentTarget.value)} />
      </label>
      {state.lastAt !== undefined && <p class="hint">{t('syncLast', dateAndTime(state.lastAt), state.ahead ?? 0)}</p>}
      <div class="buttons">
        <button type="submit" class="button" disabled={busy || !ready || remote.trim() === ''}>
          {t(busy ? 'synchronising' : 'synchronise')}
        </button>
        {busy && job !== '' && can('job.cancel') && (
          <button type="button" class="button quiet" onClick={() => void quietly(async () => void (await command('job.cancel', { jobId: job })))}>
            {t('cancel')}
          </button>
        )}
      </div>
      {busy && note !== '' && <p class="hint" role="status">{note}</p>}
      {said && (
        <p class={said.ok ? 'good' : 'problem'} role="status">
          {said.text}
        </p>
      )}
    </form>
  );
}
