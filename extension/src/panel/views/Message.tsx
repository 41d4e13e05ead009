// One message: words, what was attached to it, how it stands, and what can be done with it.
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { t } from '../i18n';
import type { MessageRow } from '../state/rows';
import { TESTID } from '../testids';
import { Attached } from './Attached';
import { Chip } from './Chip';
import { Icon } from './Icon';
import { Markdown } from './Markdown';
import { later } from './later';
import { MessageActions } from './MessageActions';
import { AnswerFoot } from './AnswerFoot';
import { UnsentActions } from './UnsentActions';

const ToolBody = later(async () => (await import('./ToolBody')).ToolBody);
const DecisionBody = later(async () => (await import('./ToolBody')).DecisionBody);

export const Message = memo(({ row }: { readonly row: MessageRow }): JSX.Element => {
  return (
    <article
      class={`message ${row.role}`}
      data-testid={TESTID.message}
      data-role={row.role}
      data-node-id={row.node?.id ?? row.pending?.userNodeId}
      data-state={row.state}
      aria-label={t(LABELS[row.role])}
      aria-busy={row.state === 'streaming'}
    >
      {BODIES[row.role](row)}
    </article>
  );
});

const LABELS = {
  user: 'roleUser',
  assistant: 'roleAssistant',
  notice: 'roleNotice',
  tool: 'roleTool',
  decision: 'roleDecision',
} as const;

const BODIES: Readonly<Record<MessageRow['role'], (row: MessageRow) => JSX.Element>> = {
  user: (row) => <UserBody row={row} />,
  assistant: (row) => <AssistantBody row={row} />,
  notice: (row) => (
    <p class="notice" data-testid={TESTID.messageBody}>
      <Icon name="warning" size={15} /> <span>{row.text}</span>
    </p>
  ),
  tool: (row) => <ToolBody row={row} />,
  decision: (row) => <DecisionBody row={row} />,
};

function UserBody({ row }: { row: MessageRow }): JSX.Element {
  return (
    <>
      {row.context.length > 0 && (
        <div class="chips">
          {row.context.map((block, at) => (
            <Chip key={at} block={block} />
          ))}
        </div>
      )}
      <Attached ids={row.attached} context={row.context} />
      {row.text && (
        <div class="bubble" data-testid={TESTID.messageBody} dir="auto">
          {row.text}
        </div>
      )}
      {row.pending && row.state !== 'saved' ? <UnsentActions row={row} pending={row.pending} /> : <MessageActions row={row} />}
    </>
  );
}

function AssistantBody({ row }: { row: MessageRow }): JSX.Element {
  const growing = row.state === 'streaming';
  return (
    <>
      {row.reasoning && (
        <details class="reasoning" open={growing && !row.text}>
          <summary>{t('reasoning')}</summary>
          <Markdown source={row.reasoning} growing={growing && !row.text} />
        </details>
      )}
      <div class="answer" data-testid={TESTID.messageBody} dir="auto">
        <Markdown source={row.text} growing={growing} />
      </div>
      {!growing && <AnswerFoot row={row} />}
      {!growing && <MessageActions row={row} />}
    </>
  );
}
