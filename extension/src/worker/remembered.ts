// What the worker must still know after the browser stopped it.
import { newId } from '../ids';
import { type Attempts, NO_ATTEMPTS } from './backoff';

let attempts: Attempts = NO_ATTEMPTS;
let clientId = '';
let storeId: string | null = null;
let reloadedFor = '';

async function load(): Promise<void> {
  const [session, local] = await Promise.all([
    chrome.storage.session.get('attempts'),
    chrome.storage.local.get(['clientId', 'storeId', 'reloadedFor']),
  ]);
  attempts = (session['attempts'] as Attempts | undefined) ?? NO_ATTEMPTS;
  storeId = (local['storeId'] as string | undefined) ?? null;
  reloadedFor = (local['reloadedFor'] as string | undefined) ?? '';
  clientId = (local['clientId'] as string | undefined) ?? '';
  if (!clientId) {
    clientId = newId();
    await chrome.storage.local.set({ clientId });
  }
}

/** Without another version a reload changes nothing, and without developer mode the browser would switch us off. */
async function versionOnDisk(): Promise<string> {
  const response = await fetch(chrome.runtime.getURL('manifest.json'), { cache: 'no-store' });
  return ((await response.json()) as { version: string }).version;
}

export const remembered = {
  loaded: load(),

  /** Starts are counted across restarts of the worker. */
  attempts: {
    get: (): Attempts => attempts,
    set: (next: Attempts): void => {
      attempts = next;
      void chrome.storage.session.set({ attempts });
    },
  },

  /** The profile's own client: commands keep it for ever, so that a resend is the same command. */
  get clientId(): string {
    return clientId;
  },

  get storeId(): string | null {
    return storeId;
  },

  storeIs(id: string): void {
    if (id === storeId) return;
    storeId = id;
    void chrome.storage.local.set({ storeId });
  },

  /** Reloads the extension where another version of it lies on the disk; once for one cause. */
  async reloadOnceFor(cause: string): Promise<void> {
    if (reloadedFor === cause || (await versionOnDisk()) === chrome.runtime.getManifest().version) return;
    reloadedFor = cause;
    await chrome.storage.local.set({ reloadedFor });
    chrome.runtime.reload();
  },
};
