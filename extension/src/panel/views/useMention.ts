// The composer's side of `@`: when its list is open, what arrows and Enter do, and what choosing does.
import { useEffect, useState } from 'preact/hooks';
import { attachHere } from '../effects/attaching';
import { offerTabs, showAllTabs } from '../effects/mentioning';
import { type Mention, mentionAt, type OfferedTab, without } from '../state/mention';
import { choices } from './TabPicker';

export interface Mentioning {
  readonly open: boolean;
  readonly entries: readonly (OfferedTab | null)[];
  readonly active: number;
  /** The text or the cursor of the field has moved. */
  look(field: HTMLTextAreaElement): void;
  close(): void;
  choose(entry: OfferedTab | null): void;
  /** True when the key was for the list. */
  key(event: KeyboardEvent): boolean;
}

export function useMention(text: string, change: (text: string) => void): Mentioning {
  const [mention, setMention] = useState<Mention | null>(null);
  const [active, setActive] = useState(0);
  const open = mention !== null && text.slice(mention.start, mention.end).length === mention.end - mention.start;
  useEffect(() => {
    if (open) void offerTabs();
  }, [open]);
  const entries = open ? choices(mention.query) : [];
  const at = Math.min(active, Math.max(0, entries.length - 1));

  const close = (): void => setMention(null);
  const choose = (entry: OfferedTab | null): void => {
    // Before anything else: it may ask for permission.
    if (entry === null) {
      void showAllTabs();
      return;
    }
    void attachHere(entry.id);
    if (mention) change(without(text, mention));
    close();
  };
  const key = (event: KeyboardEvent): boolean => {
    if (!open || entries.length === 0) return false;
    const entry = entries[at];
    if (event.key === 'ArrowDown') setActive((at + 1) % entries.length);
    else if (event.key === 'ArrowUp') setActive((at - 1 + entries.length) % entries.length);
    else if (event.key === 'Escape') close();
    else if ((event.key === 'Enter' || event.key === 'Tab') && entry !== undefined && !event.shiftKey) choose(entry);
    else return false;
    event.preventDefault();
    return true;
  };
  const look = (field: HTMLTextAreaElement): void => {
    const next = field.selectionStart === field.selectionEnd ? mentionAt(field.value, field.selectionStart) : null;
    if (next?.query !== mention?.query) setActive(0);
    setMention(next);
  };
  return { open, entries, active: at, look, close, choose, key };
}
