// What tools may do: the policy, and the rules that go before it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Rule } from '../../protocol';
import { tell } from '../effects/actions';
import { ask, command, listen, quietly } from '../effects/session';
import { type MessageKey, t } from '../i18n';
import { can, link } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';

type Policy = 'always' | 'untrusted' | 'auto';
type Verdict = Rule['verdict'];

const POLICIES: readonly (readonly [Policy, MessageKey])[] = [
  ['always', 'policyAlways'],
  ['untrusted', 'policyUntrusted'],
  ['auto', 'policyAuto'],
];
const VERDICTS: readonly (readonly [Verdict, MessageKey])[] = [
  ['deny', 'verdictDeny'],
  ['ask', 'verdictAsk'],
  ['allow', 'verdictAllow'],
];
const TOOLS = [
  '*', 'read_page', 'screenshot', 'list_tabs', 'search_history', 'memory_read', 'memory_write', 'load_skill', 'save_artifact',
  'list_files', 'read_file', 'write_file',
];

export function Permissions(): JSX.Element {
  const [policy, setPolicy] = useState<Policy>('untrusted');
  const [rules, setRules] = useState<readonly Rule[]>([]);
  const ready = link.value.phase === 'ready';
  useEffect(() => {
    if (!ready) return undefined;
    const load = (): void =>
      void quietly(async () => {
        const { settings } = (await ask('settings.get', { keys: ['policy.default'] })).data;
        setPolicy(settings['policy.default'] as Policy);
        setRules((await ask('rule.list', {})).data.rules);
      });
    load();
    return listen((event) => {
      if (event.type === 'store.changed' && (event.kind === 'rules' || event.kind === 'settings')) load();
    });
  }, [ready]);
  return (
    <>
      <label class="field">
        <span>{t('policy')}</span>
        <select data-testid={TESTID.policy} value={policy} disabled={!ready} onChange={(event) => void tell(command('settings.set', { patch: { 'policy.default': event.currentTarget.value } }))}>
          {POLICIES.map(([value, label]) => (
            <option key={value} value={value}>
              {t(label)}
            </option>
          ))}
        </select>
      </label>
      <p class="hint">{t('rulesHint')}</p>
      <ul class="connections">
        {rules.map((rule) => (
          <li key={rule.id} class="connection rule" data-testid={TESTID.rule} data-verdict={rule.verdict}>
            <p class="name">{t(VERDICTS.find(([each]) => each === rule.verdict)?.[1] ?? 'verdictAsk')}</p>
            <p class="hint">{`${rule.tool === '*' ? t('anyTool') : rule.tool} · ${rule.origin === '*' ? t('anySite') : rule.origin}`}</p>
            <button type="button" class="icon-button small" onClick={() => void tell(command('rule.delete', { ruleId: rule.id }))} aria-label={t('removeRule')} title={t('removeRule')}>
              <Icon name="close" size={14} />
            </button>
          </li>
        ))}
      </ul>
      {can('rule.save') && <RuleForm />}
    </>
  );
}

function RuleForm(): JSX.Element {
  const [tool, setTool] = useState('*');
  const [origin, setOrigin] = useState('');
  const [verdict, setVerdict] = useState<Verdict>('deny');
  return (
    <form
      class="rule-form"
      data-testid={TESTID.ruleForm}
      onSubmit={(event) => {
        event.preventDefault();
        void tell(command('rule.save', { rule: { tool, origin: origin.trim() || '*', verdict } })).then((done) => done && setOrigin(''));
      }}
    >
      <label class="field">
        <span>{t('ruleVerdict')}</span>
        <select name="verdict" value={verdict} onChange={(event) => setVerdict(event.currentTarget.value as Verdict)}>
          {VERDICTS.map(([value, label]) => (
            <option key={value} value={value}>
              {t(label)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t('ruleTool')}</span>
        <select name="tool" value={tool} onChange={(event) => setTool(event.currentTarget.value)}>
          {TOOLS.map((name) => (
            <option key={name} value={name}>
              {name === '*' ? t('anyTool') : name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t('ruleSite')}</span>
        <input name="origin" value={origin} maxLength={300} spellcheck={false} autocapitalize="off" placeholder={t('anySite')} onInput={(event) => setOrigin(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="button">
          {t('addRule')}
        </button>
      </div>
    </form>
  );
}
