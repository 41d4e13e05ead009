// What the outbox keeps of a command, and what may be done with an entry.
import type { Op } from '../protocol';

export interface Entry {
  /** Order of writing; given by the database. */
  readonly key?: number;
  readonly submissionId: string;
  readonly clientId: string;
  /** The store it was meant for; null: none was known yet, the first one takes it. */
  readonly storeId: string | null;
  readonly writtenAt: number;
  readonly op: Op;
  /** Set when it was refused for good, or is not sent by itself any more: shown until a person decides. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

export const RECEIPTS_LAST = 6 * 24 * 3_600_000;

export type Standing = 'waiting' | 'refused' | 'old' | 'foreign';

/** Whether an entry may be sent to `storeId` (null: no store is known) at `now`. */
export function standing(entry: Entry, storeId: string | null, now: number): Standing {
  if (entry.refusal) return 'refused';
  if (now - entry.writtenAt > RECEIPTS_LAST) return 'old';
  if (storeId !== null && entry.storeId !== null && entry.storeId !== storeId) return 'foreign';
  return 'waiting';
}

/** Ops whose payload holds words of a person: refused ones are kept until that person has seen them. */
const CARRIES_WORDS: ReadonlySet<string> = new Set(['turn.submit', 'turn.steer', 'turn.enqueue', 'turn.fork', 'node.append']);

/** Refusals that pass by themselves, and quickly enough that the same command should still be done then. */
const PASSING: ReadonlySet<string> = new Set(['overloaded', 'store_busy', 'storage_full', 'internal']);

/** The store was not asked at all: such a rejection leaves no receipt and says nothing about the command. */
const UNDECIDED: ReadonlySet<string> = new Set(['not_initialized', 'store_newer', 'storage_corrupt']);

export type Verdict = 'again' | 'hold' | 'keep' | 'drop';

export function afterRejection(type: string, code: string, retryable: boolean): Verdict {
  if (UNDECIDED.has(code)) return 'hold';
  if (retryable && PASSING.has(code)) return 'again';
  return CARRIES_WORDS.has(type) ? 'keep' : 'drop';
}

/** The wait before a refused command is sent again. */
export function againIn(tries: number): number {
  return Math.min(500 * 2 ** (tries - 1), 30_000);
}
