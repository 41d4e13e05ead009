// A tool that may not see a page yet: here is the click in which the browser can be asked.
import type { JSX } from 'preact';
import { browserAccess, giveBrowserAccess } from '../effects/browsing';
import { t } from '../i18n';
import { TESTID } from '../testids';
import { Icon } from './Icon';

export function BrowserAccessCards(): JSX.Element {
  return (
    <>
      {browserAccess.value.map((wanted) => {
        const words = t('toolAccessNeeded', wanted.site || t('allSites'));
        return (
          <div key={wanted.requestId} class="notice-bar" role="group" aria-label={words} data-testid={TESTID.toolAccess}>
            <span>{words}</span>
            <button type="button" class="button small" data-testid={TESTID.allowToolAccess} onClick={() => void giveBrowserAccess(wanted)}>
              {t('accessAllow')}
            </button>
            <button type="button" class="icon-button small" onClick={() => wanted.settle(false)} aria-label={t('decline')}>
              <Icon name="close" size={14} />
            </button>
          </div>
        );
      })}
    </>
  );
}
