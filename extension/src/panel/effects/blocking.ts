// Writes the list of sites that are never captured.
import { t } from '../i18n';
import { tell, toast } from './actions';
import { command } from './session';

export async function saveBlockedSites(sites: readonly string[]): Promise<boolean> {
  const done = await tell(command('settings.set', { patch: { 'capture.blocked_sites': [...sites] } }));
  if (done) toast(t('blockedSaved'));
  return done;
}
