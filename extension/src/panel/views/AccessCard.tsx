// A capture that could not ask for permission, since nobody clicked in the panel: here is the click.
import type { JSX } from 'preact';
import { accessWanted, giveAccess } from '../effects/attaching';
import { t } from '../i18n';
import { TESTID } from '../testids';
import { Icon } from './Icon';

export function AccessCard(): JSX.Element | null {
  const wanted = accessWanted.value;
  if (!wanted) return null;
  return (
    <div class="notice-bar" role="group" aria-label={t('accessNeeded', wanted.site)} data-testid={TESTID.accessWanted}>
      <span>{t('accessNeeded', wanted.site)}</span>
      <button type="button" class="button small" data-testid={TESTID.allowAccess} onClick={() => void giveAccess()}>
        {t('accessAllow')}
      </button>
      <button type="button" class="icon-button small" onClick={() => (accessWanted.value = null)} aria-label={t('close')}>
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
