// Takes a message back with all that followed: says exactly what would be put back, then does it, and offers the undo.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { newId } from '../../ids';
import { run } from '../effects/jobs';
import { type MessageKey, t } from '../i18n';
import { dispatch, drafts } from '../store';
import { TESTID } from '../testids';
import { closeDialog, Dialog } from './Dialog';

interface File { readonly path: string; readonly action: 'restore' | 'delete'; readonly changedSince?: boolean }
interface Listed { readonly files: readonly File[]; readonly text: string; readonly undoId?: string }

const ACTIONS: Readonly<Record<File['action'], MessageKey>> = { restore: 'rewindRestore', delete: 'rewindDelete' };

export function Rewind({ threadId, nodeId }: { threadId: string; nodeId: string }): JSX.Element {
  const [listed, setListed] = useState<Listed | null>(null);
  const [problem, setProblem] = useState('');
  const [files, setFiles] = useState(true);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    void run<Listed>('session.rewind', { threadId, nodeId, dryRun: true }).then((found) => {
      setListed(found.data);
      setProblem(found.problem ?? '');
    });
  }, [threadId, nodeId]);
  const rewind = async (): Promise<void> => {
    setBusy(true);
    const done = await run<Listed>('session.rewind', { threadId, nodeId, files });
    setBusy(false);
    if (done.data?.undoId === undefined) {
      setProblem(done.problem ?? '');
      return;
    }
    closeDialog();
    dispatch({ type: 'snapshot.wanted', threadId });
    // What was asked is there again, to be said otherwise; what is being written goes before it.
    const draft = drafts.peek()[threadId];
    if (!draft?.text) dispatch({ type: 'draft', threadId, draft: { context: draft?.context ?? [], text: done.data.text } });
    dispatch({ type: 'toast', toast: { id: newId(), text: t('rewound'), kind: 'info', undo: { op: 'session.undoRewind', threadId, undoId: done.data.undoId } } });
  };
  return (
    <Dialog kind="rewind" title={t('rewindTitle')}>
      <p>{t('rewindText')}</p>
      {listed === null && problem === '' && <p class="hint">{t('loading')}</p>}
      {listed !== null && listed.files.length > 0 && (
        <>
          <label class="check">
            <input type="checkbox" data-testid={TESTID.rewindFiles} checked={files} onChange={(event) => setFiles(event.currentTarget.checked)} /> {t('rewindFiles')}
          </label>
          <ul class="branch-list">
            {listed.files.map((file) => (
              <li key={file.path} data-testid={TESTID.rewindFile} data-action={file.action}>
                <code>{file.path}</code> {t(ACTIONS[file.action])}
                {file.changedSince && <strong> {t('rewindChanged')}</strong>}
              </li>
            ))}
          </ul>
        </>
      )}
      {listed?.files.length === 0 && <p class="hint">{t('rewindNoFiles')}</p>}
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="button" class="button primary" data-testid={TESTID.confirm} disabled={listed === null || busy} onClick={() => void rewind()}>
          {t('rewind')}
        </button>
        <button type="button" class="button" onClick={closeDialog}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  );
}
