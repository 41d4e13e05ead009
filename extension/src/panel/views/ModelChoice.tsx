// Which model answers when a chat does not say otherwise.
import type { JSX } from 'preact';
import { chooseModel } from '../effects/setup';
import { t } from '../i18n';
import { connections, defaultModel, link } from '../store';
import type { Connection } from '../../protocol';

export interface Choice { readonly value: string; readonly label: string }

export function choicesOf(connection: Connection): Choice[] {
  const models = new Map((connection.models ?? []).map((model) => [model.id, model.displayName ?? model.id]));
  for (const id of connection.modelIds ?? []) if (!models.has(id)) models.set(id, id);
  return [...models].map(([id, name]) => ({
    value: JSON.stringify([connection.id, id]),
    label: connection.kind === 'local' ? `${name} (${t('labelLocal')})` : connection.kind === 'extract' ? t('labelExtract') : `${connection.name}: ${name}`,
  }));
}

export function usable(connection: Connection): boolean {
  return connection.enabled && connection.installed !== false;
}

export function ModelChoice(): JSX.Element {
  const chosen = defaultModel.value;
  const choices = connections.value.filter(usable).flatMap(choicesOf);
  const value = chosen ? JSON.stringify([chosen.connectionId, chosen.modelId]) : '';
  return (
    <label class="field">
      <span>{t('defaultModel')}</span>
      <select
        data-testid="default-model"
        value={value}
        disabled={link.value.phase !== 'ready'}
        onChange={(event) => {
          const [connectionId, modelId] = JSON.parse(event.currentTarget.value || '[]') as [string?, string?];
          if (connectionId !== undefined && modelId !== undefined) chooseModel({ connectionId, modelId });
        }}
      >
        {!chosen && <option value="">{t('modelAuto')}</option>}
        {chosen && !choices.some((choice) => choice.value === value) && (
          <option value={value}>{chosen.modelId}</option>
        )}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}
