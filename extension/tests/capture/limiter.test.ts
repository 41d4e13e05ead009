// E64: one line for pictures from all windows: two a second, again after a refusal that passes, and an end.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { APART, takePicture } from '../../src/panel/capture/limiter';
import { Clock } from '../support/clock';

const clock = new Clock();
const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => void clock.after(milliseconds, resolve));
let taken: number[];
let answers: (string | Error)[];

/** Locks as the browser has them: one holder, the others in a line. */
function locks(): Pick<LockManager, 'request'> {
  let last: Promise<unknown> = Promise.resolve();
  return { request: (_name: string, work: () => Promise<unknown>) => (last = last.then(work, work)) } as unknown as LockManager;
}

beforeEach(() => {
  taken = [];
  answers = [];
  vi.stubGlobal('navigator', { locks: locks() });
  vi.stubGlobal('chrome', {
    tabs: {
      captureVisibleTab: async () => {
        taken.push(clock.now());
        const answer = answers.shift() ?? 'data:,x';
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  });
});

/** Lets time pass until `work` is done. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let done = false;
  const end = work.finally(() => (done = true));
  end.catch(() => undefined);
  for (let round = 0; round < 400 && !done; round += 1) {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    if (!done) clock.move(20);
  }
  return end;
}

const QUOTA = new Error('This request exceeds the MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND quota.');

describe('pictures', () => {
  test('of several windows stand in one line, more than half a second apart', async () => {
    await passing(Promise.all([1, 2, 3, 4].map((windowId) => takePicture(windowId, {}, { wait }))));
    expect(taken).toHaveLength(4);
    for (const [at, time] of taken.entries()) if (at > 0) expect(time - (taken[at - 1] as number)).toBeGreaterThanOrEqual(APART);
  });

  test('are tried again when the browser had enough for a moment', async () => {
    answers = [QUOTA, QUOTA, 'data:,picture'];
    expect(await passing(takePicture(1, {}, { wait }))).toBe('data:,picture');
    expect(taken).toHaveLength(3);
  });

  test('are given up after four tries, and at once where no wait helps', async () => {
    answers = [QUOTA, QUOTA, QUOTA, QUOTA, QUOTA];
    await expect(passing(takePicture(1, {}, { wait }))).rejects.toMatchObject({ why: 'no_picture' });
    expect(taken).toHaveLength(4);
    answers = [new Error("Either the '<all_urls>' or 'activeTab' permission is required.")];
    await expect(passing(takePicture(1, {}, { wait }))).rejects.toMatchObject({ why: 'no_access' });
    expect(taken).toHaveLength(5);
  });

  test('one that failed holds up nobody', async () => {
    answers = [new Error('No active web contents to capture'), 'data:,next'];
    const both = passing(Promise.allSettled([takePicture(1, {}, { wait }), takePicture(2, {}, { wait })]));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});
