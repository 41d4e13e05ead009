// A title while it is being changed: Enter keeps it, Esc leaves it as it was.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../i18n';

export function RenameField({ title, onDone }: { title: string; onDone(next: string | null): void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => field.current?.select(), []);
  const finish = (next: string | null): void => {
    if (done.current) return;
    done.current = true;
    onDone(next === null || next.trim() === '' ? null : next.trim());
  };
  return (
    <input
      ref={field}
      class="rename"
      data-testid="rename"
      defaultValue={title}
      maxLength={200}
      aria-label={t('rename')}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === 'Enter') finish(event.currentTarget.value);
        if (event.key === 'Escape') {
          event.stopPropagation();
          finish(null);
        }
      }}
      onBlur={(event) => finish(event.currentTarget.value)}
    />
  );
}
