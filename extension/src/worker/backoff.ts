// When to try the companion again: growing waits with a ceiling, a count of starts, and an end.
import type { LinkCode } from '../channel';
import { startedNothing } from './causes';

export interface Attempts {
  /** Times of the starts that may have made a process, oldest first. */
  starts: readonly number[];
  /** Failures in a row since the store was last ready. */
  failures: number;
  /** Set when we gave up: only a person begins again. */
  gaveUp: LinkCode | null;
}

export const NO_ATTEMPTS: Attempts = { starts: [], failures: 0, gaveUp: null };

const MINUTE = 60_000;
export const STARTS_A_MINUTE = 5;
const WAITS = [200, 1_000, 2_000, 5_000, 10_000, 15_000];
const FAILURES_AT_MOST = 6;
/** Without a process behind it a try is cheap, and an open panel should notice an installation: nine minutes. */
const CHEAP_FAILURES_AT_MOST = 42;

export function started(attempts: Attempts, now: number): Attempts {
  return { ...attempts, gaveUp: null, starts: [...attempts.starts.filter((at) => at > now - MINUTE), now] };
}

/** The wait before the next try in milliseconds, or null: give up. */
export function failed(attempts: Attempts, code: LinkCode, now: number): { attempts: Attempts; wait: number | null } {
  const cheap = startedNothing(code);
  const starts = cheap ? attempts.starts.slice(0, -1) : attempts.starts.filter((at) => at > now - MINUTE);
  const failures = attempts.failures + 1;
  const hopeless = code === 'silent' || code === 'invalid_name' || code === 'reload_required' || code === 'forbidden_origin';
  if (hopeless || failures >= (cheap ? CHEAP_FAILURES_AT_MOST : FAILURES_AT_MOST)) {
    return { attempts: { starts, failures, gaveUp: code }, wait: null };
  }
  const wait = WAITS[Math.min(failures, WAITS.length) - 1] ?? MINUTE;
  const [oldest] = starts.slice(-STARTS_A_MINUTE);
  const room = starts.length < STARTS_A_MINUTE || oldest === undefined ? 0 : oldest + MINUTE - now;
  return { attempts: { starts, failures, gaveUp: null }, wait: Math.max(wait, room) };
}

/** The store is ready, so the next death counts as the first again. */
export function succeeded(attempts: Attempts): Attempts {
  return { ...attempts, failures: 0, gaveUp: null };
}

/** A person asked: begin anew, but remember the starts. */
export function askedFor(attempts: Attempts): Attempts {
  return { ...attempts, failures: 0, gaveUp: null };
}
