// The frame of what lies over the panel: holds the focus, closes with Esc and a click beside it.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../i18n';
import { dispatch } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';

export const closeDialog = (): void => dispatch({ type: 'dialog', dialog: null });

interface Props { readonly kind: string; readonly title: string; readonly children: ComponentChildren }

export function Dialog({ kind, title, children }: Props): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opened = document.activeElement as HTMLElement | null;
    element.current?.showModal();
    return () => opened?.isConnected && opened.focus();
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      data-testid={TESTID.dialog}
      data-kind={kind}
      aria-labelledby={titleId}
      onClose={closeDialog}
      onClick={(event) => {
        if (event.target === element.current) closeDialog();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="icon-button small" onClick={closeDialog} aria-label={t('close')}>
            <Icon name="close" size={16} />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly kind: string;
  readonly title: string;
  readonly text: string;
  readonly label: string;
  run(): void;
}

/** Asks before what cannot be taken back. */
export function Confirm({ kind, title, text, label, run }: ConfirmProps): JSX.Element {
  return (
    <Dialog kind={kind} title={title}>
      <p>{text}</p>
      <div class="buttons">
        <button
          type="button"
          class="button danger"
          data-testid={TESTID.confirm}
          onClick={() => {
            closeDialog();
            run();
          }}
        >
          {label}
        </button>
        <button type="button" class="button" onClick={closeDialog}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  );
}
