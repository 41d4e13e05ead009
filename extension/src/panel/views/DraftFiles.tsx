// The files of the message that is being written: how far each is, and how to take it out.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { leaving, stay } from '../effects/actions';
import { addFiles, type DraftFile, files, removeFile, retryFile } from '../effects/files';
import { sentence } from '../effects/sentences';
import { uploadLimit } from '../effects/uploads';
import { t } from '../i18n';
import { can, link, pending, shownId } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';
import { sizeText, typeText } from './sizes';

export function DraftFiles(): JSX.Element | null {
  const threadId = shownId.value;
  const here = files.value.filter((each) => each.threadId === threadId);
  if (here.length === 0) return null;
  const full = pending.value.some(({ op, code }) => op.type.startsWith('attachment.') && code === 'storage_full');
  return (
    <>
      <ul class="draft-files" aria-label={t('filesOfMessage')}>
        {here.map((file) => (
          <DraftFileView key={file.id} file={file} />
        ))}
      </ul>
      {full && <p class="problem" role="status">{t('diskFullWaits')}</p>}
      {leaving.value.has(threadId) && (
        <p class="hint" role="status">
          {t('sendsWhenThere')}{' '}
          <button type="button" class="link" onClick={() => stay(threadId)}>
            {t('cancel')}
          </button>
        </p>
      )}
    </>
  );
}

function DraftFileView({ file }: { file: DraftFile }): JSX.Element {
  const { id, name, mime, size, sent, state, preview } = file;
  const part = size === 0 ? 1 : sent / size;
  return (
    <li class={`draft-file ${state}`} data-testid={TESTID.draftFile} data-state={state} data-code={file.code}>
      {preview === undefined ? <Icon name="file" size={18} /> : <img src={preview} alt="" />}
      <span class="chip-text">
        <span class="chip-name" title={name}>{name}</span>
        <span class="chip-detail">{detail(file)}</span>
        {(state === 'sending' || state === 'waiting') && (
          <progress max={1} value={part} aria-label={t('sendingFile', name)}>
            {`${typeText(name, mime)} ${Math.round(part * 100)} %`}
          </progress>
        )}
      </span>
      {state === 'failed' && file.code !== 'too_large' && (
        <button type="button" class="icon-button small" aria-label={t('retryFile', name)} title={t('retryFile', name)} onClick={() => retryFile(id)}>
          <Icon name="again" size={14} />
        </button>
      )}
      <button type="button" class="icon-button small" data-testid={TESTID.removeFile} aria-label={t('removeAttached', name)} title={t('removeAttached', name)} onClick={() => removeFile(id)}>
        <Icon name="close" size={14} />
      </button>
    </li>
  );
}

function detail({ state, sent, size, code }: DraftFile): string {
  switch (state) {
    case 'failed':
      if (code === 'too_large') return t('fileTooLarge', sizeText(size), sizeText(uploadLimit()));
      return code === 'unreadable' ? t('fileUnreadable') : sentence(code ?? '', '');
    case 'sending':
      return t('sentOf', sizeText(sent), sizeText(size));
    case 'waiting':
      return t(link.value.phase === 'ready' ? 'fileWaits' : 'fileWaitsForHost');
    case 'there':
      return sizeText(size);
  }
}

/** Opens the browser's choice of files. */
export function FileButton(): JSX.Element | null {
  const input = useRef<HTMLInputElement>(null);
  const threadId = shownId.value;
  if (!can('attachment.begin')) return null;
  return (
    <>
      <button type="button" class="icon-button" data-testid={TESTID.attachFile} aria-label={t('attachFiles')} title={t('attachFilesTitle')} onClick={() => input.current?.click()}>
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        class="sr-only"
        type="file"
        multiple
        tabIndex={-1}
        aria-label={t('attachFiles')}
        data-testid={TESTID.fileInput}
        onChange={(event) => {
          addFiles(threadId, event.currentTarget.files ?? []);
          // The same file may be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
