// Short words about what was just done or refused, with undo where there is one.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { undo } from '../effects/removal';
import { t } from '../i18n';
import type { Toast } from '../state/model';
import { dispatch, toasts } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';

const STAYS = 8_000;

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastView({ toast }: { toast: Toast }): JSX.Element {
  const close = (): void => dispatch({ type: 'toast.gone', id: toast.id });
  // While somebody is at it, with pointer or keyboard, it stays.
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return undefined;
    const timer = setTimeout(close, STAYS);
    return () => clearTimeout(timer);
  }, [toast.id, held]);
  return (
    <div
      class={`toast ${toast.kind}`}
      data-testid={TESTID.toast}
      data-kind={toast.kind}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      <span>{toast.text}</span>
      {toast.undo && (
        <button type="button" class="link" data-testid={TESTID.undo} onClick={() => undo(toast.id)}>
          {t('undo')}
        </button>
      )}
      <button type="button" class="icon-button small" onClick={close} aria-label={t('close')}>
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
