// Keys that work wherever the focus is.
import { useEffect } from 'preact/hooks';
import { openSearch } from '../effects/search';
import { can, dialog } from '../store';

export function useShortcuts(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const mod = event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey;
      if (!mod || event.key.toLowerCase() !== 'k' || dialog.peek() !== null || !can('thread.search')) return;
      event.preventDefault();
      openSearch();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
