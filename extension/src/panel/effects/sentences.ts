// From wire codes to sentences: what is wrong, in the person's language.
import { type MessageKey, t } from '../i18n';

const SENTENCES: Readonly<Record<string, MessageKey>> = {
  not_connected: 'codeNotConnected',
  not_found: 'codeNotFound',
  conflict: 'codeConflict',
  turn_mismatch: 'codeTurnMismatch',
  run_active: 'codeRunActive',
  queue_full: 'codeQueueFull',
  overloaded: 'codeOverloaded',
  store_busy: 'codeStoreBusy',
  storage_full: 'codeStorageFull',
  storage_corrupt: 'codeStorageCorrupt',
  store_newer: 'codeStoreNewer',
  vault_locked: 'codeVaultLocked',
  quota_exceeded: 'codeQuota',
  digest_mismatch: 'codeDigest',
  too_large: 'codeTooLarge',
  message_too_large: 'codeTooLarge',
  snapshot_invalid: 'codeSnapshotInvalid',
  snapshot_unsupported: 'codeSnapshotInvalid',
  provider_auth: 'codeProviderAuth',
  provider_rate_limit: 'codeProviderRateLimit',
  provider_overloaded: 'codeProviderOverloaded',
  provider_network: 'codeProviderNetwork',
  provider_context_too_long: 'codeProviderContext',
  provider_content_filter: 'codeProviderFilter',
  provider_protocol: 'codeProviderProtocol',
};

/** One sentence for a code; the host's own message where we have none, and as detail where it adds something. */
export function sentence(code: string, message: string): string {
  const key = SENTENCES[code];
  if (!key) return message ? `${message} (${code})` : t('codeUnknown', code);
  return t(key);
}
