// From the browser's error text to a cause that we can explain.
import type { LinkCode } from '../channel';

const CAUSES: readonly (readonly [RegExp, LinkCode])[] = [
  [/host not found/i, 'not_found'],
  [/forbidden/i, 'forbidden'],
  [/host has exited/i, 'exited'],
  [/error when communicating/i, 'communication'],
  [/failed to start/i, 'start_failed'],
  [/invalid native messaging host name/i, 'invalid_name'],
  [/administrator|policy|disabled/i, 'policy'],
];

export function causeOf(lastError: string): LinkCode {
  return CAUSES.find(([pattern]) => pattern.test(lastError))?.[1] ?? 'unknown';
}

/** Causes for which the browser started no process: asking again costs nothing. */
export function startedNothing(code: LinkCode): boolean {
  return code === 'not_found' || code === 'forbidden' || code === 'invalid_name' || code === 'policy';
}
