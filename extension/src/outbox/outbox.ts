// Commands that the host has not answered yet, on disk in the browser. Never secrets.
import type { Entry } from './entry';

const DATABASE = 'sidekeep-outbox';
const STORE = 'entries';

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB'));
  });
}

let opening: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opening ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      request.result
        .createObjectStore(STORE, { keyPath: 'key', autoIncrement: true })
        .createIndex('submissionId', 'submissionId', { unique: true });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB'));
  }).then((opened) => {
    const again = (): void => {
      opening = null;
    };
    opened.onclose = again;
    opened.onversionchange = () => {
      opened.close();
      again();
    };
    return opened;
  });
  opening.catch(() => {
    opening = null;
  });
  return opening;
}

/** Resolves when the transaction is on disk (`strict`), not merely done. */
async function write(durability: IDBTransactionDurability, work: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = (await database()).transaction(STORE, 'readwrite', { durability });
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('IndexedDB'));
  });
  try {
    work(transaction.objectStore(STORE));
  } catch (error) {
    // Else what was asked for before the fault would still be written.
    done.catch(() => undefined);
    transaction.abort();
    throw error;
  }
  transaction.commit?.();
  return done;
}

export const outbox = {
  /** Opens the database ahead of the first command. */
  async warm(): Promise<void> {
    await database();
  },

  /** All of them, in this order, or none. */
  put(entries: readonly Entry[]): Promise<void> {
    return write('strict', (store) => {
      for (const entry of entries) store.add(entry);
    });
  },

  /** All entries in the order in which they were written. */
  async all(): Promise<Entry[]> {
    const store = (await database()).transaction(STORE, 'readonly').objectStore(STORE);
    return settled(store.getAll() as IDBRequest<Entry[]>);
  },

  async get(submissionId: string): Promise<Entry | undefined> {
    const store = (await database()).transaction(STORE, 'readonly').objectStore(STORE);
    return settled(store.index('submissionId').get(submissionId) as IDBRequest<Entry | undefined>);
  },

  /** Relaxed: an entry that comes back after a crash is only sent once more, and its receipt answers. */
  remove(submissionId: string): Promise<void> {
    return change(submissionId, (store, entry) => store.delete(entry.key as number));
  },

  refuse(submissionId: string, refusal: NonNullable<Entry['refusal']>): Promise<void> {
    return change(submissionId, (store, entry) => store.put({ ...entry, refusal }));
  },

  /** Makes a refused entry wait again, under the same submission. */
  reopen(submissionId: string): Promise<void> {
    return change(submissionId, (store, { refusal: _, ...entry }) => store.put(entry));
  },
};

async function change(submissionId: string, work: (store: IDBObjectStore, entry: Entry) => void): Promise<void> {
  const transaction = (await database()).transaction(STORE, 'readwrite', { durability: 'relaxed' });
  const store = transaction.objectStore(STORE);
  const entry = await settled(store.index('submissionId').get(submissionId) as IDBRequest<Entry | undefined>);
  if (!entry) return;
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('IndexedDB'));
    work(store, entry);
  });
}
