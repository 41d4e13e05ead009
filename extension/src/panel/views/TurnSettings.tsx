// What goes with every turn: instructions, and how many tokens it may take.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { tell, toast } from '../effects/actions';
import { ask, command, quietly } from '../effects/session';
import { t } from '../i18n';
import { can, link } from '../store';
import { TESTID } from '../testids';

interface Kept { readonly instructions: string; readonly budget: number }

export function TurnSettings(): JSX.Element {
  const [kept, setKept] = useState<Kept>({ instructions: '', budget: 0 });
  const [instructions, setInstructions] = useState('');
  const [budget, setBudget] = useState('');
  const ready = link.value.phase === 'ready';
  const show = (now: Kept): void => {
    setKept(now);
    setInstructions(now.instructions);
    setBudget(now.budget === 0 ? '' : String(now.budget));
  };
  useEffect(() => {
    if (!ready) return;
    void quietly(async () => {
      const { settings } = (await ask('settings.get', { keys: ['instructions.global', 'budget.turn_tokens'] })).data;
      show({ instructions: String(settings['instructions.global'] ?? ''), budget: Number(settings['budget.turn_tokens'] ?? 0) });
    });
  }, [ready]);
  const wanted: Kept = { instructions, budget: Math.max(0, Math.trunc(Number(budget) || 0)) };
  const same = wanted.instructions === kept.instructions && wanted.budget === kept.budget;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const patch = { 'instructions.global': wanted.instructions, 'budget.turn_tokens': wanted.budget };
        void tell(command('settings.set', { patch })).then((done) => {
          if (!done) return;
          show(wanted);
          toast(t('savedSettings'));
        });
      }}
    >
      <label class="field">
        <span>{t('instructions')}</span>
        <textarea data-testid={TESTID.instructions} rows={4} value={instructions} maxLength={100_000} placeholder={t('instructionsHint')} onInput={(event) => setInstructions(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>{t('turnBudget')}</span>
        <input data-testid={TESTID.turnBudget} type="number" min={0} max={1_000_000_000} step={1000} value={budget} placeholder={t('noBudget')} onInput={(event) => setBudget(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="button" data-testid={TESTID.saveTurnSettings} disabled={same || !ready || !can('settings.set')}>
          {t('save')}
        </button>
      </div>
    </form>
  );
}
