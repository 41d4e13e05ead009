// Settings: how it looks, which model answers, connections with their keys, what is stored where.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { keepPreferences } from '../effects/drafts';
import { loadConnections, loadSettings, loadStorage } from '../effects/live';
import { type MessageKey, t } from '../i18n';
import type { Language, Theme } from '../state/model';
import { can, dispatch, link, preferences, storeId } from '../store';
import { TESTID } from '../testids';
import { CaptureSettings } from './CaptureSettings';
import { Connections } from './Connections';
import { HostStatus } from './HostStatus';
import { Icon } from './Icon';
import { Memories } from './Memories';
import { ModelChoice } from './ModelChoice';
import { Permissions } from './Permissions';
import { Projects } from './Projects';
import { StorageUse } from './StorageUse';
import { SyncSettings } from './SyncSettings';
import { TurnSettings } from './TurnSettings';

export function Settings(): JSX.Element {
  useEffect(() => {
    void loadStorage();
    void loadSettings();
    void loadConnections();
  }, []);
  return (
    <main class="settings" data-testid={TESTID.settings}>
      <header class="top-bar">
        <button type="button" class="icon-button" onClick={() => dispatch({ type: 'page.shown', page: 'chat' })} aria-label={t('back')}>
          <Icon name="back" />
        </button>
        <h1 class="title">{t('settings')}</h1>
      </header>
      <HostStatus />
      <div class="sections">
        <Section title="sectionModel">
          <ModelChoice />
        </Section>
        <Section title="sectionConnections">
          <Connections />
        </Section>
        <Section title="sectionTurn">
          <TurnSettings />
        </Section>
        {can('rule.list') && (
          <Section title="sectionPermissions">
            <Permissions />
          </Section>
        )}
        {can('memory.list') && (
          <Section title="sectionMemories">
            <Memories />
          </Section>
        )}
        {can('project.list') && (
          <Section title="sectionProjects">
            <Projects />
          </Section>
        )}
        {can('sync.start') && (
          <Section title="sectionSync">
            <SyncSettings />
          </Section>
        )}
        <Section title="sectionLook">
          <Look />
        </Section>
        <Section title="sectionCapture">
          <CaptureSettings />
        </Section>
        <Section title="sectionStorage">
          <StorageFacts />
        </Section>
      </div>
    </main>
  );
}

function Section({ title, children }: { title: MessageKey; children: ComponentChildren }): JSX.Element {
  return (
    <section aria-label={t(title)}>
      <h2>{t(title)}</h2>
      {children}
    </section>
  );
}

const THEMES: readonly (readonly [Theme, MessageKey])[] = [
  ['auto', 'themeAuto'],
  ['light', 'themeLight'],
  ['dark', 'themeDark'],
];

function Look(): JSX.Element {
  const { theme, language } = preferences.value;
  return (
    <>
      <label class="field">
        <span>{t('theme')}</span>
        <select data-testid="theme" value={theme} onChange={(event) => keepPreferences({ language, theme: event.currentTarget.value as Theme })}>
          {THEMES.map(([value, label]) => (
            <option key={value} value={value}>
              {t(label)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t('language')}</span>
        <select data-testid="language" value={language} onChange={(event) => keepPreferences({ theme, language: event.currentTarget.value as Language })}>
          <option value="auto">{t('languageAuto')}</option>
          <option value="en" lang="en">
            English
          </option>
          <option value="zh_CN" lang="zh-CN">
            简体中文
          </option>
        </select>
      </label>
    </>
  );
}

function StorageFacts(): JSX.Element {
  const status = link.value;
  const facts: (readonly [MessageKey, string])[] = [];
  if ('host' in status) facts.push(['factHost', `${status.host.version} (pid ${status.host.pid})`]);
  if (storeId.value) facts.push(['factStore', storeId.value]);
  facts.push(['factExtension', chrome.runtime.getManifest().version]);
  return (
    <>
      <p class="hint">{t('storageHint')}</p>
      <StorageUse />
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{t(name)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
