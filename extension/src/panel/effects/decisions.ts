// The person's word where a run waits for it.
import type { ApprovalDecision } from '../../protocol';
import { t } from '../i18n';
import { toast } from './actions';
import { sentence } from './sentences';
import { command, Refusal } from './session';

async function tell(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    toast(error.code === 'conflict' ? t('alreadyDecided') : sentence(error.code, error.message), 'error');
  }
}

/** `note`: a word for the model. */
export function decide(approvalId: string, kind: ApprovalDecision['kind'], note = ''): void {
  const said = note.trim() === '' ? {} : { note: note.trim().toWellFormed() };
  void tell(command('approval.response', { approvalId, decision: { kind, ...said } }));
}

/** `response` as docs/tools.md has it for the kind of what is asked. */
export function respond(interactionId: string, response: Record<string, unknown>): void {
  void tell(command('interaction.response', { interactionId, response }));
}
