// What tools did: a call with what it passes on, its result, what was decided about it.
import type { JSX } from 'preact';
import type { ThreadNode } from '../../protocol';
import { cutText } from '../../text';
import { type MessageKey, t } from '../i18n';
import type { MessageRow } from '../state/rows';
import { TESTID } from '../testids';
import { Icon } from './Icon';

export function ToolBody({ row }: { row: MessageRow }): JSX.Element {
  const { tool } = row;
  const result = row.node?.type === 'tool_result';
  const about = result ? '' : inShort(tool?.params ?? '');
  return (
    <details class="tool" data-testid={TESTID.toolCard} data-tool={tool?.name} data-state={stateOf(tool?.ok, result)}>
      <summary>
        <Icon name="gear" size={14} />{' '}
        {result ? t(tool?.ok === false ? 'toolFailed' : 'toolResult') : t('toolCall', tool?.name ?? '')}
        {about && <span class="detail"> {about}</span>}
      </summary>
      <pre tabindex={0} data-testid={TESTID.messageBody}>{result ? row.text : tool?.params}</pre>
    </details>
  );
}

function stateOf(ok: boolean | undefined, result: boolean): string {
  if (!result) return 'called';
  return ok === false ? 'failed' : 'done';
}

export function DecisionBody({ row }: { row: MessageRow }): JSX.Element {
  return <p class="notice plain">{row.node ? decisionWords(row.node) : t('roleDecision')}</p>;
}

const SHORT = 80;

/** The values of a call's arguments on one line; empty when they are none, or no JSON. */
function inShort(params: string): string {
  let found: unknown;
  try {
    found = JSON.parse(params);
  } catch {
    return '';
  }
  if (typeof found !== 'object' || found === null) return '';
  const values = Object.values(found).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const line = values.join(', ').replace(/\s+/g, ' ').trim();
  return line.length > SHORT ? `${cutText(line, SHORT)}…` : line;
}

const DECISIONS: Readonly<Record<string, MessageKey>> = {
  accept: 'decisionAccept',
  acceptForSession: 'decisionSession',
  acceptForSite: 'decisionSite',
  decline: 'decisionDecline',
  cancel: 'decisionCancel',
};

function decisionWords(node: ThreadNode): string {
  const { request, decision } = node.payload as unknown as {
    request?: { tool?: string; title?: string };
    decision?: { kind?: string; note?: string };
  };
  const key = DECISIONS[decision?.kind ?? ''];
  if (!key) return t('roleDecision');
  const words = t(key, request?.title ?? request?.tool ?? '');
  return decision?.note ? `${words} ${decision.note}` : words;
}
