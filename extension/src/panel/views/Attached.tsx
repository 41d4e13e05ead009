// What a message names: pictures as pictures, other files as cards, and what is gone by what it was.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Attachment, ContextBlock } from '../../protocol';
import { download, fileName, known, need, urlOf } from '../effects/attachments';
import { t } from '../i18n';
import { dispatch, shownId } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';
import { sizeText, typeText } from './sizes';

/** A larger picture is fetched only when it is opened. */
const PREVIEW_BYTES = 8 * 1_048_576;

interface Props {
  readonly ids: readonly string[];
  /** Blocks whose content is an attachment: captured pictures and files. */
  readonly context: readonly ContextBlock[];
}

export function Attached({ ids, context }: Props): JSX.Element | null {
  const captured = context.flatMap((block) => (block.attachmentId === undefined ? [] : [block.attachmentId]));
  const all = [...ids, ...captured];
  const threadId = shownId.value;
  useEffect(() => {
    if (all.length > 0) need(threadId, all);
  }, [threadId, all.join()]);
  const shown = all.map((id) => [id, known.value.get(id)] as const);
  // A captured file that is no picture has its chip already.
  const seen = shown.filter(([id, about]) => ids.includes(id) || (about && (isPicture(about) || about.evicted)));
  if (seen.length === 0) return null;
  return (
    <div class="attached" data-testid={TESTID.attached}>
      {seen.map(([id, about]) => (
        <AttachmentView key={id} id={id} about={about} />
      ))}
    </div>
  );
}

export const nameOf = (about: Attachment): string => about.meta?.title || about.sourceRef || t('attachment');
export const isPicture = ({ mime }: Attachment): boolean => mime.startsWith('image/');

function AttachmentView({ id, about }: { id: string; about: Attachment | null | undefined }): JSX.Element {
  if (about === undefined) return <span class="file-card waiting" data-testid={TESTID.attachment} data-state="unknown" />;
  if (about === null || about.evicted) return <Tombstone id={id} about={about} />;
  return isPicture(about) && about.size <= PREVIEW_BYTES ? <Picture about={about} /> : <FileCard about={about} />;
}

/** What stood here: nothing is shown as if it had never been. */
function Tombstone({ id, about }: { id: string; about: Attachment | null }): JSX.Element {
  const source = about?.meta?.url ?? '';
  return (
    <div class="file-card gone" data-testid={TESTID.attachment} data-state="gone" data-attachment-id={id}>
      <Icon name="trash" size={18} />
      <span class="chip-text">
        <span class="chip-name">{about ? nameOf(about) : t('attachment')}</span>
        <span class="chip-detail">{t(about ? 'evictedTitle' : 'deletedTitle')}</span>
        {about && (
          <details>
            <summary>{[sizeText(about.size), typeText(nameOf(about), about.mime)].join(' · ')}</summary>
            <dl class="facts">
              <dt>SHA-256</dt>
              <dd class="digest">{about.sha256}</dd>
              {source && <dt>{t('source')}</dt>}
              {source && <dd>{source}</dd>}
            </dl>
          </details>
        )}
      </span>
    </div>
  );
}

const open = (id: string): void => dispatch({ type: 'dialog', dialog: { kind: 'attachment', attachmentId: id } });

function Picture({ about }: { about: Attachment }): JSX.Element {
  const { id, meta } = about;
  const { url, failed } = useUrl(id);
  const name = nameOf(about);
  if (failed) return <FileCard about={about} />;
  // Its place is held while it loads: nothing below jumps.
  const ratio = meta?.w && meta.h ? `${meta.w} / ${meta.h}` : '4 / 3';
  return (
    <button type="button" class="thumb" data-testid={TESTID.attachment} data-state="picture" data-attachment-id={id} aria-label={t('openAttachment', name)} title={name} style={{ aspectRatio: ratio }} onClick={() => open(id)}>
      {url && <img src={url} alt={name} draggable={false} />}
    </button>
  );
}

/** The bytes' object URL, once they are here. */
export function useUrl(id: string): { url: string; failed: boolean } {
  const [found, setFound] = useState({ url: '', failed: false });
  useEffect(() => {
    let wanted = true;
    urlOf(id).then(
      (url) => wanted && setFound({ url, failed: false }),
      () => wanted && setFound({ url: '', failed: true }),
    );
    return () => {
      wanted = false;
    };
  }, [id]);
  return found;
}

function FileCard({ about }: { about: Attachment }): JSX.Element {
  const { id, mime, size } = about;
  const name = nameOf(about);
  return (
    <div class="file-card" data-testid={TESTID.attachment} data-state="file" data-attachment-id={id}>
      <button type="button" class="open" aria-label={t('openAttachment', name)} title={name} onClick={() => open(id)}>
        <Icon name="file" size={20} />
        <span class="chip-text">
          <span class="chip-name">{name}</span>
          <span class="chip-detail">{[typeText(name, mime), sizeText(size)].join(' · ')}</span>
        </span>
      </button>
      <button type="button" class="icon-button small" data-testid={TESTID.download} aria-label={t('downloadNamed', name)} title={t('download')} onClick={() => void download(id, fileName(name))}>
        <Icon name="download" size={16} />
      </button>
    </div>
  );
}
