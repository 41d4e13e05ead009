// What of a page is to be kept, and how far its keeping is.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type KeepProgress, keeping } from '../capture/progress';
import { choice, keep, stopKeeping } from '../effects/keeping';
import { t } from '../i18n';
import { TESTID } from '../testids';
import { closeDialog, Dialog } from './Dialog';

export function KeepDialog({ tabId }: { tabId: number | null }): JSX.Element {
  const [wanted, setWanted] = useState(choice.peek());
  return (
    <Dialog kind="keep" title={t('keepPage')}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          // First of all: the browser asks for permission only in the moment of the click.
          void keep(tabId, wanted);
          choice.value = wanted;
          closeDialog();
        }}
      >
        <p class="hint">{t('keepHint')}</p>
        <label class="check">
          <input type="checkbox" checked disabled /> {t('keepText')}
        </label>
        <label class="check">
          <input type="checkbox" data-testid={TESTID.keepCopy} checked={wanted.copy} onChange={(event) => setWanted({ ...wanted, copy: event.currentTarget.checked })} /> {t('keepCopy')}
        </label>
        <label class="check">
          <input type="checkbox" data-testid={TESTID.keepPicture} checked={wanted.picture} onChange={(event) => setWanted({ ...wanted, picture: event.currentTarget.checked })} /> {t('keepPicture')}
        </label>
        <div class="buttons">
          <button type="submit" class="button primary" data-testid={TESTID.confirm} autofocus>
            {t('keepGo')}
          </button>
          <button type="button" class="button" onClick={closeDialog}>
            {t('cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toLocaleString(undefined, { maximumFractionDigits: 1 })} MiB`;

function wordsOf({ phase, part, bytes }: KeepProgress): string {
  if (phase === 'picture') return t('keepingPicture', Math.round(part * 100));
  if (phase === 'waits') return t('keepingWaits');
  return phase === 'sending' ? t('keepingPart', megabytes(bytes * part), megabytes(bytes)) : t('keeping');
}

/** There while a page is being kept. */
export function Keeping(): JSX.Element | null {
  const progress = keeping.value;
  if (!progress) return null;
  const determinate = progress.phase === 'picture' || progress.phase === 'sending';
  return (
    <div class="notice-bar" data-testid={TESTID.keeping} data-phase={progress.phase}>
      <progress aria-label={t('keeping')} max={1} {...(determinate ? { value: progress.part } : {})} />
      <span>{wordsOf(progress)}</span>
      <button type="button" class="link" onClick={stopKeeping}>
        {t('cancel')}
      </button>
    </div>
  );
}
