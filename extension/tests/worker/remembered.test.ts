// E11: the extension reloads itself only where another version lies on the disk, and once for one cause.
import { beforeEach, describe, expect, test, vi } from 'vitest';

let stored: Record<string, unknown>;
let reloads: number;
let onDisk: string;

beforeEach(() => {
  stored = {};
  reloads = 0;
  onDisk = '0.1.0';
  const area = {
    get: async () => ({ ...stored }),
    set: async (values: object) => void Object.assign(stored, values),
  };
  vi.stubGlobal('chrome', {
    storage: { local: area, session: area },
    runtime: {
      getManifest: () => ({ version: '0.1.0' }),
      getURL: (path: string) => `chrome-extension://x/${path}`,
      reload: () => {
        reloads += 1;
      },
    },
  });
  vi.stubGlobal('fetch', async () => ({ json: async () => ({ version: onDisk }) }));
});

/** As a worker that the browser has just started. */
async function started(): Promise<typeof import('../../src/worker/remembered').remembered> {
  vi.resetModules();
  const { remembered } = await import('../../src/worker/remembered');
  await remembered.loaded;
  return remembered;
}

describe('a companion of another protocol', () => {
  test('with the same version on the disk a reload would change nothing', async () => {
    await (await started()).reloadOnceFor('2 1');
    expect(reloads).toBe(0);
  });

  test('with another version on the disk the extension reloads, once for this cause, also after that', async () => {
    onDisk = '0.2.0';
    await (await started()).reloadOnceFor('2 1');
    await (await started()).reloadOnceFor('2 1');
    expect(reloads).toBe(1);
    await (await started()).reloadOnceFor('3 1');
    expect(reloads).toBe(2);
  });
});

describe('what the next worker knows', () => {
  test('the profile keeps its client for ever, so that a resend is the same command', async () => {
    const first = (await started()).clientId;
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect((await started()).clientId).toBe(first);
  });

  test('the store and the starts are known again', async () => {
    const before = await started();
    before.storeIs('store-1');
    before.attempts.set({ starts: [1, 2], failures: 2, gaveUp: 'silent' });
    const after = await started();
    expect([after.storeId, after.attempts.get()]).toEqual(['store-1', { starts: [1, 2], failures: 2, gaveUp: 'silent' }]);
  });
});
