// Another answer to the same question, by a model of one's choice.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { regenerate } from '../effects/actions';
import { t } from '../i18n';
import { connections } from '../store';
import { TESTID } from '../testids';
import { closeDialog, Dialog } from './Dialog';
import { choicesOf, usable } from './ModelChoice';

export function Regenerate({ nodeId }: { nodeId: string }): JSX.Element {
  const choices = connections.value.filter(usable).flatMap(choicesOf);
  const [value, setValue] = useState(choices[0]?.value ?? '');
  return (
    <Dialog kind="regenerate" title={t('regenerateWith')}>
      <label class="field">
        <span>{t('model')}</span>
        <select data-testid={TESTID.regenerateModel} value={value} onChange={(event) => setValue(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      </label>
      <div class="buttons">
        <button
          type="button"
          class="button primary"
          data-testid={TESTID.confirm}
          disabled={value === ''}
          onClick={() => {
            const [connectionId, modelId] = JSON.parse(value) as [string, string];
            closeDialog();
            regenerate(nodeId, { connectionId, modelId });
          }}
        >
          {t('regenerate')}
        </button>
        <button type="button" class="button" onClick={closeDialog}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  );
}
