// Takes files that are dragged over the chat, and says where they will go.
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { addFiles } from '../effects/files';
import { t } from '../i18n';
import { can, shownId } from '../store';
import { Icon } from './Icon';

const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;

export function DropZone({ covered, children }: { covered: boolean; children: ComponentChildren }): JSX.Element {
  const [over, setOver] = useState(false);
  /** Entering a child comes before leaving its parent. */
  const depth = useRef(0);
  const takes = (event: DragEvent): boolean => holdsFiles(event) && can('attachment.begin');
  const move = (by: number): void => {
    depth.current = Math.max(0, depth.current + by);
    setOver(depth.current > 0);
  };
  return (
    <main
      class="chat"
      inert={covered}
      onDragEnter={(event) => takes(event) && move(1)}
      onDragLeave={(event) => takes(event) && move(-1)}
      onDragOver={(event) => {
        // Else the browser would open the file in place of the panel.
        if (holdsFiles(event)) event.preventDefault();
      }}
      onDrop={(event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        if (can('attachment.begin')) addFiles(shownId.peek(), filesIn(event.dataTransfer));
      }}
    >
      {children}
      {over && (
        <div class="drop-here" aria-hidden="true">
          <Icon name="clip" size={28} /> {t('dropHere')}
        </div>
      )}
    </main>
  );
}

/** Files of a drop or a paste; folders among them are left out, they have no bytes. */
export function filesIn(data: DataTransfer | null): File[] {
  const items = [...(data?.items ?? [])];
  if (items.length === 0) return [...(data?.files ?? [])];
  return items.flatMap((item) => {
    const folder = item.kind === 'file' && item.webkitGetAsEntry?.()?.isDirectory === true;
    const file = item.kind === 'file' && !folder ? item.getAsFile() : null;
    return file ? [file] : [];
  });
}
