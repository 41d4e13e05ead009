// Markdown on the screen, block by block; while it grows only the last block is made anew.
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n';
import { type Block, type Blocks, blocksOf } from '../markdown/blocks';
import { enhance } from '../markdown/enhance';
import { htmlOf } from '../markdown/render';

interface BlockProps { readonly block: Block; readonly done: boolean }

const BlockView = memo(
  ({ block, done }: BlockProps): JSX.Element => {
    const element = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
      if (element.current && done) enhance(element.current);
    }, [block.raw, done]);
    return <div class="block" ref={element} dangerouslySetInnerHTML={{ __html: htmlOf(block) }} />;
  },
  (before, after) => before.block.raw === after.block.raw && before.done === after.done,
);

export function Markdown({ source, growing }: { source: string; growing: boolean }): JSX.Element {
  const known = useRef<Blocks | undefined>(undefined);
  // A text that is done is read once as a whole: what its end says about its beginning (link targets) counts then.
  if (!known.current || known.current.source !== source || !growing) {
    known.current = blocksOf(source, growing ? known.current : undefined);
  }
  const { blocks } = known.current;
  return (
    <div class="markdown" onClick={copyCode}>
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} done={!growing || at < blocks.length - 1} />
      ))}
    </div>
  );
}

/** One listener for the copy buttons of all blocks. */
function copyCode(event: MouseEvent): void {
  const button = (event.target as Element).closest<HTMLButtonElement>('button.copy-code');
  const code = button?.parentElement?.querySelector('code');
  if (!button || !code) return;
  void navigator.clipboard.writeText((code.textContent ?? '').replace(/\n$/, '')).then(() => {
    button.textContent = t('copied');
    setTimeout(() => {
      button.textContent = t('copy');
    }, 1_500);
  });
}
