// What may be done with an entry of the outbox, and what becomes of a refused command.
import { describe, expect, test } from 'vitest';
import { afterRejection, againIn, RECEIPTS_LAST, standing } from '../../src/outbox/entry';
import { entry, submit } from '../support/make';

describe('an entry', () => {
  const one = entry(submit(1), { writtenAt: 1_000 });

  test.each([
    ['for the store that answers', one, 'store-1', 2_000, 'waiting'],
    ['for another store is not sent', one, 'store-2', 2_000, 'foreign'],
    ['while no store is known', one, null, 2_000, 'waiting'],
    ['written before any store was known', { ...one, storeId: null }, 'store-2', 2_000, 'waiting'],
    ['exactly six days old', one, 'store-1', 1_000 + RECEIPTS_LAST, 'waiting'],
    ['a moment older: its receipt may be gone', one, 'store-1', 1_001 + RECEIPTS_LAST, 'old'],
    ['that was refused', { ...one, refusal: { code: 'conflict', message: '' } }, 'store-1', 2_000, 'refused'],
  ] as const)('%s', (_, given, storeId, now, expected) => {
    expect(standing(given, storeId, now)).toBe(expected);
  });

  test('six days, since receipts are kept for seven', () => expect(RECEIPTS_LAST).toBe(518_400_000));
});

describe('a refused command', () => {
  test.each([
    ['turn.submit', 'overloaded', true, 'again'],
    ['turn.submit', 'store_busy', true, 'again'],
    ['turn.submit', 'storage_full', true, 'again'],
    ['thread.update', 'internal', true, 'again'],
    // Waiting for these could take for ever, and by then it may not be wanted any more.
    ['turn.submit', 'queue_full', true, 'keep'],
    ['node.delete', 'run_active', true, 'drop'],
    ['turn.submit', 'vault_locked', true, 'keep'],
    // Words of a person are kept until that person has seen the refusal.
    ['turn.submit', 'not_found', false, 'keep'],
    ['turn.fork', 'conflict', false, 'keep'],
    ['node.append', 'invalid_command', false, 'keep'],
    ['thread.update', 'conflict', false, 'drop'],
    ['thread.delete', 'not_found', false, 'drop'],
    // The store was not asked.
    ['turn.submit', 'store_newer', false, 'hold'],
    ['thread.update', 'storage_corrupt', false, 'hold'],
    ['thread.delete', 'not_initialized', false, 'hold'],
  ] as const)('%s with %s', (type, code, retryable, verdict) => {
    expect(afterRejection(type, code, retryable)).toBe(verdict);
  });

  test('is sent again after growing waits of at most half a minute', () => {
    expect([1, 2, 3, 7, 20].map(againIn)).toEqual([500, 1_000, 2_000, 30_000, 30_000]);
  });
});
