// The outbox: on disk before anything is sent, in order, and never a secret.
import { IDBFactory } from 'fake-indexeddb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import 'fake-indexeddb/auto';
import type { outbox as Outbox } from '../../src/outbox/outbox';
import { isKept } from '../../src/protocol';
import { create, entry, id, submit } from '../support/make';

let outbox: typeof Outbox;
const opened: { mode: unknown; options: unknown }[] = [];

beforeEach(async () => {
  globalThis.indexedDB = new IDBFactory();
  opened.length = 0;
  const transaction = IDBDatabase.prototype.transaction;
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, names, mode, options) {
    opened.push({ mode, options });
    return transaction.call(this, names, mode, options);
  });
  vi.resetModules();
  ({ outbox } = await import('../../src/outbox/outbox'));
});

const texts = async (): Promise<string[]> => (await outbox.all()).map(({ submissionId }) => submissionId);

describe('the outbox', () => {
  test('E50: entries are written with strict durability: resolved means on disk', async () => {
    await outbox.put([entry(create(1)), entry(submit(2))]);
    expect(opened.filter(({ mode }) => mode === 'readwrite')).toEqual([{ mode: 'readwrite', options: { durability: 'strict' } }]);
  });

  test('keeps the order of writing, whatever the ids', async () => {
    await outbox.put([entry(submit(9)), entry(submit(3))]);
    await outbox.put([entry(submit(5))]);
    await outbox.remove(id(3));
    await outbox.put([entry(submit(1))]);
    expect(await texts()).toEqual([id(9), id(5), id(1)]);
  });

  test('puts all of a batch or nothing: a chat without its first message is not left behind', async () => {
    await outbox.put([entry(submit(2))]);
    await expect(outbox.put([entry(create(1)), entry(submit(2))])).rejects.toThrow();
    expect(await texts()).toEqual([id(2)]);
  });

  test('a batch with something that cannot be written at all leaves nothing either', async () => {
    const broken = { ...submit(2), input: () => undefined } as unknown as ReturnType<typeof submit>;
    await expect(outbox.put([entry(create(1)), entry(broken)])).rejects.toThrow();
    expect(await texts()).toEqual([]);
  });

  test('E34: the same submission is kept once', async () => {
    await outbox.put([entry(submit(2, 'once'))]);
    await expect(outbox.put([entry(submit(2, 'twice'))])).rejects.toThrow();
    expect(await outbox.all()).toMatchObject([{ op: { input: { content: [{ text: 'once' }] } } }]);
  });

  test('a refusal stays with its entry; made to wait again it keeps its place and its submission', async () => {
    await outbox.put([entry(submit(1)), entry(submit(2))]);
    await outbox.refuse(id(1), { code: 'queue_full', message: 'full' });
    expect(await outbox.get(id(1))).toMatchObject({ refusal: { code: 'queue_full', message: 'full' } });
    await outbox.reopen(id(1));
    expect((await outbox.get(id(1)))?.refusal).toBeUndefined();
    expect(await texts()).toEqual([id(1), id(2)]);
  });

  test('removing or refusing what is gone already changes nothing', async () => {
    await outbox.put([entry(submit(1))]);
    await outbox.remove(id(7));
    await outbox.refuse(id(7), { code: 'conflict', message: '' });
    expect(await texts()).toEqual([id(1)]);
  });

  test('D8: what was written is there for the next worker', async () => {
    await outbox.put([entry(submit(1, 'before the end'))]);
    vi.resetModules();
    const { outbox: next } = await import('../../src/outbox/outbox');
    expect(await next.all()).toMatchObject([{ submissionId: id(1), storeId: 'store-1' }]);
  });

  test('text comes back as it was: NUL, line separators, emoji, other scripts', async () => {
    const text = 'a\u0000b\u2028c\u2029d\ufeffe 👩‍👩‍👧 漢字 \u{1f1e9}\u{1f1ea}';
    await outbox.put([entry(submit(1, text))]);
    expect(await outbox.get(id(1))).toMatchObject({ op: { input: { content: [{ text }] } } });
  });

  test('E50: when the browser cannot keep it, the caller hears of it', async () => {
    await outbox.warm();
    vi.spyOn(IDBObjectStore.prototype, 'add').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    await expect(outbox.put([entry(submit(1))])).rejects.toThrow('full');
  });
});

describe('C6: what is never kept in the browser', () => {
  test.each(['secret.set', 'secret.delete', 'vault.unlock', 'vault.rekey', 'attachment.chunk', 'browser.response'])('%s', (type) => {
    expect(isKept(type)).toBe(false);
  });

  test.each(['turn.submit', 'thread.create', 'thread.delete', 'node.delete', 'settings.set', 'connection.save', 'folder.save'])(
    '%s is kept',
    (type) => expect(isKept(type)).toBe(true),
  );

  test.each(['thread.list', 'thread.subscribe', 'thread.page', 'branch.list', 'folder.list', 'storage.status', 'ping'])(
    '%s only asks',
    (type) => expect(isKept(type)).toBe(false),
  );
});
