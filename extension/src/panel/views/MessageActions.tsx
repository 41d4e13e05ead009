// The small buttons under a message, and the branch switcher. What the host cannot do is not shown.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { edit, forkThread, regenerate, selectBranch } from '../effects/actions';
import { deleteNode } from '../effects/removal';
import { type MessageKey, t } from '../i18n';
import type { MessageRow } from '../state/rows';
import { can, dispatch, running, shownId, siblings } from '../store';
import { TESTID } from '../testids';
import { Icon, type IconName } from './Icon';

export function MessageActions({ row }: { row: MessageRow }): JSX.Element | null {
  const { node } = row;
  if (!node) return null;
  const idle = !running.value;
  return (
    <div class="actions">
      <BranchSwitcher nodeId={node.id} enabled={idle} />
      <CopyButton text={row.text} />
      {row.role === 'user' && can('turn.fork') && (
        <Action id="editMessage" icon="edit" label="editAndResend" enabled={idle} run={() => edit(node.id, row.text, row.context)} />
      )}
      {row.role === 'assistant' && can('turn.fork') && (
        <>
          <Action id="regenerate" icon="again" label="regenerate" enabled={idle} run={() => regenerate(node.id)} />
          <Action id="regenerateWith" icon="more" label="regenerateWith" enabled={idle} run={() => show('regenerate', node.id)} />
        </>
      )}
      {row.role === 'user' && can('session.rewind') && (
        <Action id="rewind" icon="restore" label="rewindTo" enabled={idle} run={() => show('rewind', node.id)} />
      )}
      {can('thread.fork') && (
        <Action id="forkThread" icon="fork" label="forkToNewChat" enabled run={() => void forkThread(node.id)} />
      )}
      {can('node.delete') && (
        <Action id="deleteMessage" icon="trash" label="deleteMessage" enabled={idle} run={() => void deleteNode(node.id)} />
      )}
    </div>
  );
}

function show(kind: 'rewind' | 'regenerate', nodeId: string): void {
  dispatch({ type: 'dialog', dialog: { kind, threadId: shownId.peek(), nodeId } });
}

interface ActionProps {
  readonly id: keyof typeof TESTID;
  readonly icon: IconName;
  readonly label: MessageKey;
  readonly enabled: boolean;
  run(): void;
}

function Action({ id, icon, label, enabled, run }: ActionProps): JSX.Element {
  return (
    <button type="button" class="icon-button small" data-testid={TESTID[id]} disabled={!enabled} onClick={run} aria-label={t(label)} title={t(label)}>
      <Icon name={icon} size={15} />
    </button>
  );
}

function CopyButton({ text }: { text: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  };
  return (
    <Action id="copyMessage" icon={copied ? 'check' : 'copy'} label={copied ? 'copied' : 'copyMessage'} enabled run={copy} />
  );
}

function BranchSwitcher({ nodeId, enabled }: { nodeId: string; enabled: boolean }): JSX.Element | null {
  const all = siblings.value[nodeId]?.ids ?? [];
  if (all.length < 2) return null;
  const at = all.indexOf(nodeId);
  const step = (by: number): void => {
    const target = all[at + by];
    if (target !== undefined) selectBranch(target);
  };
  const allowed = enabled && can('thread.selectBranch');
  return (
    <span class="branches" role="group" aria-label={t('branches')}>
      <button type="button" class="icon-button small" data-testid={TESTID.branchPrev} disabled={!allowed || at <= 0} onClick={() => step(-1)} aria-label={t('previousBranch')}>
        <Icon name="back" size={14} />
      </button>
      <span data-testid={TESTID.branchPos}>{`${at + 1}/${all.length}`}</span>
      <button type="button" class="icon-button small" data-testid={TESTID.branchNext} disabled={!allowed || at >= all.length - 1} onClick={() => step(1)} aria-label={t('nextBranch')}>
        <Icon name="next" size={14} />
      </button>
    </span>
  );
}
