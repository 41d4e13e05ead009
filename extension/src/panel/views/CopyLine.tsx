// A command to type elsewhere, with a button that copies it.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';

export function CopyLine({ text }: { text: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  };
  return (
    <div class="copy-line">
      <code>{text}</code>
      <button type="button" class="button small" onClick={copy}>
        {t(copied ? 'copied' : 'copy')}
      </button>
    </div>
  );
}
