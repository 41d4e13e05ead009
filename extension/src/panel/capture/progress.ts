// How far the keeping of a page is; null while none is kept.
import { signal } from '@preact/signals';

export interface KeepProgress {
  readonly phase: 'reading' | 'picture' | 'waits' | 'sending';
  /** 0 to 1; of the picture, or of the bytes that are sent. */
  readonly part: number;
  readonly bytes: number;
}

export const keeping = signal<KeepProgress | null>(null);
