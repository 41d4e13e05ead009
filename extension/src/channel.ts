// What a panel and the service worker say to each other over a runtime port.
import type { HostInfo, Op, PortLimits, WireMessage } from './protocol';

/** Why there is no companion to talk to: the browser's own errors kept apart, and ours beside them. */
export type LinkCode =
  | 'not_found' | 'forbidden' | 'exited' | 'communication' | 'start_failed' | 'invalid_name' | 'policy'
  | 'silent' | 'reload_required' | 'forbidden_origin' | 'unknown';

export type LinkStatus =
  | { phase: 'connecting' }
  /** Initialised; the store is being opened (or upgraded). */
  | { phase: 'opening'; host: HostInfo; what?: string; pct?: number }
  | { phase: 'ready'; host: HostInfo; storeId: string; capabilities: readonly string[]; limits: PortLimits }
  /** The store was refused: newer, damaged, held by another version. */
  | { phase: 'refused'; host: HostInfo; code: string; message: string }
  /** No companion. `retryAt` null: given up until somebody asks. */
  | { phase: 'down'; code: LinkCode; detail: string; retryAt: number | null };

export type ToWorker =
  /** `fresh`: a person opened this panel just now; else it only found its worker gone. */
  | { kind: 'hello'; clientId: string; fresh: boolean }
  | { kind: 'op'; op: Op }
  | { kind: 'retry' };

export type FromWorker =
  /** The profile's own client, under which commands are sent, and the store that it last knew. */
  | { kind: 'welcome'; clientId: string; storeId: string | null }
  | { kind: 'link'; status: LinkStatus }
  | { kind: 'event'; event: WireMessage }
  /** The outbox changed: look at it again. */
  | { kind: 'outbox' };

export const PANEL_PORT = 'sidekeep-panel';

/** What somebody asked for outside of the panel, left in the session's storage under this name. */
export const WANTED = 'wanted';
export type Wanted = { readonly tabId: number; readonly at: number } & (
  | { readonly what: 'page' | 'keep' }
  | { readonly what: 'selection'; readonly text: string }
  | { readonly what: 'link' | 'image'; readonly url: string }
);
