// An attachment opened: a picture large, a text as text, and what else is known of it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytesOf, deleteAttachment, download, fileName, known, pinAttachment } from '../effects/attachments';
import type { Attachment } from '../../protocol';
import { t } from '../i18n';
import { can } from '../store';
import { TESTID } from '../testids';
import { isPicture, nameOf, useUrl } from './Attached';
import { dateAndTime } from './dates';
import { closeDialog, Dialog } from './Dialog';
import { Icon } from './Icon';
import { sizeText, typeText } from './sizes';

/** Longer text is better read in a program of its own. */
const TEXT_BYTES = 256 * 1024;
const TEXT_TYPES = /^(text\/|application\/(json|xml|javascript|x-yaml|toml)$)/;

export function AttachmentDialog({ id }: { id: string }): JSX.Element | null {
  const about = known.value.get(id);
  const [asks, setAsks] = useState(false);
  if (!about) return null;
  const name = nameOf(about);
  const facts = [typeText(name, about.mime), sizeText(about.size), about.createdAt > 0 ? dateAndTime(about.createdAt) : ''];
  return (
    <Dialog kind="attachment" title={name}>
      {isPicture(about) ? <Large id={id} name={name} /> : <Words about={about} />}
      <p class="hint">{facts.filter(Boolean).join(' · ')}</p>
      {about.meta?.url && <p class="hint source">{about.meta.url}</p>}
      <div class="buttons">
        <button type="button" class="button primary" data-testid={TESTID.download} onClick={() => void download(id, fileName(name))}>
          <Icon name="download" size={16} /> {t('download')}
        </button>
        {can('attachment.pin') && about.provenance !== 'user' && (
          <button type="button" class="button" aria-pressed={about.pinned} title={t('pinAttachmentTitle')} onClick={() => void pinAttachment(id, !about.pinned)}>
            <Icon name="pin" size={16} /> {t(about.pinned ? 'unpin' : 'pin')}
          </button>
        )}
        {can('attachment.delete') && (
          <button type="button" class={`button ${asks ? 'danger' : ''}`} data-testid={TESTID.deleteAttachment} onClick={() => {
              if (!asks) setAsks(true);
              else void deleteAttachment(id).then((done) => done && closeDialog());
            }}>
            <Icon name="trash" size={16} /> {t(asks ? 'deleteForGood' : 'deleteFile')}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function Large({ id, name }: { id: string; name: string }): JSX.Element {
  const { url, failed } = useUrl(id);
  if (failed) return <p class="problem">{t('codeNotFound')}</p>;
  return url ? <img class="large" src={url} alt={name} /> : <p class="hint">{t('loading')}</p>;
}

function Words({ about }: { about: Attachment }): JSX.Element | null {
  const [text, setText] = useState<string | null>(null);
  const readable = TEXT_TYPES.test(about.mime) && about.size <= TEXT_BYTES;
  useEffect(() => {
    if (!readable) return;
    bytesOf(about.id).then(async (blob) => setText(await blob.text()), () => setText(null));
  }, [about.id, readable]);
  return text === null ? null : <pre class="words" tabIndex={0} dir="auto">{text}</pre>;
}
