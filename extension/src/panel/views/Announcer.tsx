// Reads an answer out to screen readers once it is done, instead of every piece of it.
import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { oneLine } from '../../text';
import { t } from '../i18n';
import { textOf } from '../state/payload';
import { conversation } from '../store';

export function Announcer(): JSX.Element {
  const [words, setWords] = useState('');
  const running = useRef<string | null>(null);
  useSignalEffect(() => {
    const { turn, nodes } = conversation.value;
    if (turn && running.current !== turn.turnId) {
      running.current = turn.turnId;
      setWords(t('answering'));
    } else if (!turn && running.current !== null) {
      const last = nodes.at(-1);
      if (last?.type !== 'assistant_message') return;
      running.current = null;
      setWords(t('answered', oneLine(textOf(last), 1_000)));
    }
  });
  return (
    <div class="sr-only" aria-live="polite">
      {words}
    </div>
  );
}
