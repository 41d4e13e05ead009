// A page, selection or paste that goes with a message.
import type { JSX } from 'preact';
import type { ContextBlock } from '../../protocol';
import { t } from '../i18n';
import { TESTID } from '../testids';
import { Icon } from './Icon';

interface Props {
  readonly block: ContextBlock;
  readonly cutFrom?: number | undefined;
  /** What it is, where it is no text. */
  readonly detail?: string | undefined;
  readonly onRemove?: () => void;
}

function host(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : '';
}

function sizeOf(block: ContextBlock, kept: number, cutFrom: number | undefined): string {
  if (block.text === undefined && block.attachmentId !== undefined) return t('chipFile');
  return cutFrom === undefined ? t('characters', kept.toLocaleString()) : t('cutTo', kept.toLocaleString(), cutFrom.toLocaleString());
}

export function Chip({ block, cutFrom, detail, onRemove }: Props): JSX.Element {
  const kept = block.text?.length ?? 0;
  const page = block.title || host(block.url) || t(block.kind === 'paste' ? 'kindPaste' : 'kindPage');
  const name = block.kind === 'selection' ? `${t('kindSelection')}: ${page}` : page;
  const size = detail ?? sizeOf(block, kept, cutFrom);
  return (
    <span
      class="chip"
      data-testid={TESTID.contextChip}
      data-kind={block.kind}
      data-cut={cutFrom === undefined ? undefined : '1'}
      title={[block.title, block.url, size].filter(Boolean).join('\n')}
    >
      <Icon name="page" size={15} />
      <span class="chip-text">
        <span class="chip-name">{name}</span>
        <span class="chip-detail">{[host(block.url), size].filter(Boolean).join(' · ')}</span>
      </span>
      {onRemove && (
        <button type="button" class="icon-button small" onClick={onRemove} aria-label={t('removeAttached', name)}>
          <Icon name="close" size={14} />
        </button>
      )}
    </span>
  );
}
