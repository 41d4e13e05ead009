// What a run waits for: an answer to its question, a deed by hand, a time.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PendingInteraction } from '../../protocol';
import { respond } from '../effects/decisions';
import { locale, t } from '../i18n';
import { TESTID } from '../testids';
import { Countdown } from './Countdown';

/** As docs/tools.md has it. */
interface Asked {
  readonly kind?: string;
  readonly question?: string;
  readonly options?: readonly string[];
  readonly task?: string;
  readonly until?: number;
  readonly reason?: string;
}

export function InteractionCard({ interaction }: { readonly interaction: PendingInteraction }): JSX.Element {
  const asked = interaction.request as Asked;
  const { deadlineAt } = interaction;
  return (
    <section class="card interaction" role="group" data-testid={TESTID.interaction} data-kind={asked.kind} aria-label={titleOf(asked)}>
      <h2 dir="auto">{titleOf(asked)}</h2>
      {deadlineAt !== undefined && (
        <p class="hint">
          <Countdown until={deadlineAt} />
        </p>
      )}
      {asked.kind === 'hand_over' && <HandOver id={interaction.interactionId} task={asked.task ?? ''} />}
      {asked.kind === 'wait_until' && <Wait id={interaction.interactionId} reason={asked.reason ?? ''} />}
      {asked.kind !== 'hand_over' && asked.kind !== 'wait_until' && <Question id={interaction.interactionId} options={asked.options ?? []} />}
    </section>
  );
}

function titleOf({ kind, question, until }: Asked): string {
  if (kind === 'hand_over') return t('handOverTitle');
  if (kind === 'wait_until') return t('waitTitle', new Date(until ?? 0).toLocaleString(locale(), { dateStyle: 'short', timeStyle: 'short' }));
  return question ?? t('interactionTitle');
}

function Question({ id, options }: { readonly id: string; readonly options: readonly string[] }): JSX.Element {
  const [answer, setAnswer] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (answer.trim() !== '') respond(id, { answer: answer.trim() });
      }}
    >
      {options.length > 0 && (
        <div class="buttons">
          {options.map((option) => (
            <button key={option} type="button" class="button" onClick={() => respond(id, { answer: option })}>
              {option}
            </button>
          ))}
        </div>
      )}
      <label class="field">
        <span>{t('yourAnswer')}</span>
        <input value={answer} dir="auto" onInput={(event) => setAnswer(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button primary" disabled={answer.trim() === ''}>
        {t('answer')}
      </button>
    </form>
  );
}

function HandOver({ id, task }: { readonly id: string; readonly task: string }): JSX.Element {
  const [note, setNote] = useState('');
  const said = note.trim() === '' ? {} : { note: note.trim() };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        respond(id, { done: true, ...said });
      }}
    >
      <p dir="auto">{task}</p>
      <label class="field">
        <span>{t('handOverNote')}</span>
        <input value={note} dir="auto" onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="button primary">
          {t('handOverDone')}
        </button>
        <button type="button" class="button" onClick={() => respond(id, { done: false, ...said })}>
          {t('handOverNot')}
        </button>
      </div>
    </form>
  );
}

function Wait({ id, reason }: { readonly id: string; readonly reason: string }): JSX.Element {
  return (
    <>
      <p dir="auto">{reason}</p>
      <button type="button" class="button" onClick={() => respond(id, { continue: true })}>
        {t('waitEnd')}
      </button>
    </>
  );
}
