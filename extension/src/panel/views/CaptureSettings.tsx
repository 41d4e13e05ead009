// Which sites are never captured.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { blockedSites, siteNamed } from '../capture/sites';
import { saveBlockedSites } from '../effects/blocking';
import { t } from '../i18n';
import { can, link } from '../store';
import { TESTID } from '../testids';

export function CaptureSettings(): JSX.Element {
  const [text, setText] = useState('');
  const [kept, setKept] = useState('');
  const ready = link.value.phase === 'ready';
  useEffect(() => {
    void blockedSites().then((sites) => {
      setText(sites.join('\n'));
      setKept(sites.join('\n'));
    });
  }, [ready]);
  const sites = text.split(/\s+/).map(siteNamed).filter((site) => site !== '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const unique = [...new Set(sites)];
        void saveBlockedSites(unique).then((done) => {
          if (!done) return;
          setText(unique.join('\n'));
          setKept(unique.join('\n'));
        });
      }}
    >
      <label class="field">
        <span>{t('blockedSites')}</span>
        <textarea data-testid={TESTID.blockedSites} rows={4} spellcheck={false} autocapitalize="off" value={text} aria-describedby="blocked-sites-hint" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <p class="hint" id="blocked-sites-hint">{t('blockedSitesHint')}</p>
      <div class="buttons">
        <button type="submit" class="button" data-testid={TESTID.saveBlockedSites} disabled={text === kept || !ready || !can('settings.set')}>
          {t('save')}
        </button>
      </div>
    </form>
  );
}
