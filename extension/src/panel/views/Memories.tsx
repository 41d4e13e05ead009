// What models were told to remember: seen, changed, added and forgotten by hand.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Memory } from '../../protocol';
import { tell } from '../effects/actions';
import { ask, command, listen, quietly } from '../effects/session';
import { t } from '../i18n';
import { can, link } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';

export function Memories(): JSX.Element {
  const [memories, setMemories] = useState<readonly Memory[]>([]);
  const [edited, setEdited] = useState<string | null>(null);
  const ready = link.value.phase === 'ready';
  useEffect(() => {
    if (!ready) return undefined;
    const load = (): void => void quietly(async () => setMemories((await ask('memory.list', {})).data.memories));
    load();
    return listen((event) => {
      if (event.type === 'store.changed' && event.kind === 'memories') load();
    });
  }, [ready]);
  const save = async (key: string, value: string, memoryId?: string): Promise<void> => {
    if (await tell(command('memory.set', { ...(memoryId === undefined ? {} : { memoryId }), key, value }))) setEdited(null);
  };
  return (
    <>
      <p class="hint">{t('memoriesHint')}</p>
      <ul class="connections">
        {memories.map((memory) => (
          <li key={memory.id} class="connection" data-testid={TESTID.memory} data-memory-id={memory.id}>
            {edited === memory.id ? (
              <MemoryForm memory={memory} onSave={(key, value) => void save(key, value, memory.id)} onCancel={() => setEdited(null)} />
            ) : (
              <>
                <p class="name">{memory.key}</p>
                <p class="hint">{memory.value}</p>
                <div class="buttons">
                  <button type="button" class="button small" onClick={() => setEdited(memory.id)}>
                    {t('change')}
                  </button>
                  <button type="button" class="button small quiet" onClick={() => void tell(command('memory.delete', { memoryId: memory.id }))} aria-label={t('forgetMemory', memory.key)}>
                    <Icon name="trash" size={14} /> {t('forget')}
                  </button>
                </div>
              </>
            )}
          </li>
        ))}
      </ul>
      {edited === '' ? (
        <MemoryForm onSave={(key, value) => void save(key, value)} onCancel={() => setEdited(null)} />
      ) : (
        can('memory.set') && (
          <button type="button" class="button" data-testid={TESTID.addMemory} onClick={() => setEdited('')}>
            {t('addMemory')}
          </button>
        )
      )}
    </>
  );
}

interface FormProps {
  readonly memory?: Memory;
  onSave(key: string, value: string): void;
  onCancel(): void;
}

function MemoryForm({ memory, onSave, onCancel }: FormProps): JSX.Element {
  const [key, setKey] = useState(memory?.key ?? '');
  const [value, setValue] = useState(memory?.value ?? '');
  return (
    <form
      class="card"
      data-testid={TESTID.memoryForm}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(key.trim(), value.trim());
      }}
    >
      <label class="field">
        <span>{t('memoryKey')}</span>
        <input name="key" value={key} maxLength={200} required onInput={(event) => setKey(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>{t('memoryValue')}</span>
        <textarea name="value" rows={3} value={value} maxLength={4_000} required onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="button primary" disabled={key.trim() === '' || value.trim() === ''}>
          {t('save')}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}
