// The person's word where a run waits for it.
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

export function decide(approvalId: string, kind: 'accept' | 'acceptForSession' | 'decline'): void {
  void tell(command('approval.response', { approvalId, decision: { kind } }));
}

export function answerInteraction(interactionId: string, answer: string): void {
  void tell(command('interaction.response', { interactionId, response: { answer } }));
}
