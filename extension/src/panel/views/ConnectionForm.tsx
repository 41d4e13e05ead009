// The form of one connection. A key goes straight to the companion's vault and is nowhere kept here.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Connection } from '../../protocol';
import { saveConnection } from '../effects/setup';
import { t } from '../i18n';
import { link } from '../store';
import { TESTID } from '../testids';

type Kind = 'openai' | 'anthropic';
interface Template { readonly name: string; readonly kind: Kind; readonly baseUrl: string; readonly needsKey: boolean; readonly models?: string }

const TEMPLATES: readonly Template[] = [
  { name: 'OpenAI', kind: 'openai', baseUrl: 'https://api.openai.com/v1', needsKey: true },
  { name: 'Anthropic', kind: 'anthropic', baseUrl: 'https://api.anthropic.com', needsKey: true },
  { name: 'OpenRouter', kind: 'openai', baseUrl: 'https://openrouter.ai/api/v1', needsKey: true },
  { name: 'DeepSeek', kind: 'openai', baseUrl: 'https://api.deepseek.com/v1', needsKey: true, models: 'deepseek-chat' },
  { name: 'Ollama', kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
  { name: 'LM Studio', kind: 'openai', baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false },
  { name: 'llama.cpp', kind: 'openai', baseUrl: 'http://127.0.0.1:8080/v1', needsKey: false },
];
const CUSTOM: Template = { name: '', kind: 'openai', baseUrl: '', needsKey: true };
const BASES: Readonly<Record<Kind, string>> = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' };

export function ConnectionForm({ connection, onDone }: { connection?: Connection; onDone(): void }): JSX.Element {
  const [kind, setKind] = useState<Kind>(connection?.kind === 'anthropic' ? 'anthropic' : 'openai');
  const [template, setTemplate] = useState<Template | null>(null);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);

  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    setBusy(true);
    setFault('');
    const problem = await saveConnection({
      ...(connection ? { known: connection } : {}),
      kind,
      name: text('name') || (kind === 'openai' ? 'OpenAI' : 'Anthropic'),
      baseUrl: text('baseUrl') || BASES[kind],
      key: text('key'),
      modelIds: text('models').split(/[\s,]+/).filter(Boolean),
    });
    setBusy(false);
    if (problem === null) onDone();
    else setFault(problem);
  };

  return (
    <form class="card connection-form" data-testid="connection-form" autocomplete="off" onSubmit={(event) => void onSubmit(event as SubmitEvent)}>
      {!connection && (
        <label class="field">
          <span>{t('template')}</span>
          <select
            name="template"
            data-testid={TESTID.template}
            value={template?.name ?? ''}
            onChange={(event) => {
              const chosen = TEMPLATES.find((each) => each.name === event.currentTarget.value) ?? CUSTOM;
              setTemplate(chosen);
              setKind(chosen.kind);
            }}
          >
            <option value="">{t('templateCustom')}</option>
            {TEMPLATES.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="field">
        <span>{t('fieldKind')}</span>
        <select name="kind" value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
          <option value="openai">{t('kindOpenai')}</option>
          <option value="anthropic">Anthropic</option>
        </select>
      </label>
      <label class="field">
        <span>{t('fieldName')}</span>
        <input name="name" key={`name ${template?.name}`} defaultValue={connection?.name ?? template?.name ?? ''} placeholder={kind === 'openai' ? 'OpenAI' : 'Anthropic'} maxLength={100} />
      </label>
      <label class="field">
        <span>{t('fieldUrl')}</span>
        <input name="baseUrl" type="url" key={`url ${template?.name}`} defaultValue={connection?.baseUrl ?? template?.baseUrl ?? ''} placeholder={BASES[kind]} />
      </label>
      <label class="field">
        <span>{t('fieldKey')}</span>
        <input name="key" type="password" autocomplete="off" placeholder={connection?.secretRefs?.length ? t('keyUnchanged') : template?.needsKey === false ? t('keyNotNeeded') : ''} />
      </label>
      <label class="field">
        <span>{t('fieldModels')}</span>
        <input name="models" key={`models ${template?.name}`} defaultValue={connection ? (connection.modelIds ?? []).join(', ') : (template?.models ?? '')} required spellcheck={false} />
      </label>
      <p class="hint">{t('keyHint')}</p>
      {fault && (
        <p class="problem" role="alert">
          {fault}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="button primary" disabled={busy || link.value.phase !== 'ready'}>
          {t('save')}
        </button>
        <button type="button" class="button" onClick={onDone}>
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}
