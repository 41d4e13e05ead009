// Reads a kept page again: its text, its copy, its picture; without network, and none of its own code runs.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Attachment, Page } from '../../protocol';
import { inWords } from '../capture/cuts';
import { bytesOf, download, fileName } from '../effects/attachments';
import { canOpen, openInTab, openOriginal, pinPage, reading, readPage, textPart } from '../effects/pages';
import { type MessageKey, t } from '../i18n';
import { binaryOf, parseMhtml } from '../reader/mhtml';
import { documentOf } from '../reader/snapshot';
import { can, dispatch, link } from '../store';
import { TESTID } from '../testids';
import { cutText } from '../../text';
import { isPicture, useUrl } from './Attached';
import { dateAndTime } from './dates';
import { Icon } from './Icon';
import { Markdown } from './Markdown';
import { Menu } from './Menu';
import { itemsOf, siteOf } from './Pages';
import { sizeText } from './sizes';

type Form = 'text' | 'copy' | 'picture';
const FORMS: Readonly<Record<Form, MessageKey>> = { text: 'formText', copy: 'formCopy', picture: 'formPicture' };

/** A tab of its own has no list of pages to go back to that it came from. */
const IN_TAB = new URLSearchParams(location.hash.slice(1)).has('page');

export function Reader(): JSX.Element {
  const shown = reading.value;
  const ready = link.value.phase === 'ready';
  const pageId = shown?.pageId;
  const waits = shown !== null && shown.page === null && shown.problem === '';
  useEffect(() => {
    if (ready && waits && pageId !== undefined) void readPage(pageId);
  }, [ready, pageId]);
  const back = (): void => dispatch({ type: 'page.shown', page: 'pages' });
  return (
    <main class="reader" data-testid={TESTID.reader} data-page-id={pageId} onKeyDown={(event) => event.key === 'Escape' && back()}>
      <header class="top-bar">
        <button type="button" class="icon-button" onClick={back} aria-label={t('keptPages')} title={t('keptPages')}>
          <Icon name="back" />
        </button>
        <h1 class="title" title={shown?.page?.title}>{shown?.page?.title ?? t('keptPages')}</h1>
        {shown?.page && <Tools page={shown.page} parts={shown.parts} />}
      </header>
      {shown?.page ? <Kept page={shown.page} parts={shown.parts} /> : <p class="hint waiting-page" role="status">{shown?.problem || t('loading')}</p>}
    </main>
  );
}

function Tools({ page, parts }: { page: Page; parts: readonly Attachment[] }): JSX.Element {
  const pinned = parts.length > 0 && parts.every((part) => part.pinned);
  const items = itemsOf(page);
  const original = parts.find(({ kind, mime }) => kind === 'page_snapshot' || mime === 'application/pdf');
  if (original) {
    const ending = original.mime === 'application/pdf' ? 'pdf' : 'mhtml';
    const name = fileName(page.title).replace(new RegExp(`\\.${ending}$`, 'i'), '');
    items.splice(-1, 0, { icon: 'download', label: t('downloadCopy'), run: () => void download(original.id, `${name}.${ending}`) });
  }
  if (parts.length > 0 && can('attachment.pin')) {
    items.splice(-1, 0, { icon: 'pin', label: t(pinned ? 'unpinPage' : 'pinPage'), run: () => void pinPage(parts, !pinned) });
  }
  return (
    <>
      {!IN_TAB && (
        <button type="button" class="icon-button" aria-label={t('openInTab')} title={t('openInTab')} onClick={() => openInTab(page.id)}>
          <Icon name="tab" />
        </button>
      )}
      {canOpen(page.url) && (
        <button type="button" class="icon-button" data-testid={TESTID.openOriginal} aria-label={t('openOriginal')} title={t('openOriginal')} onClick={() => openOriginal(page.url)}>
          <Icon name="external" />
        </button>
      )}
      <Menu label={t('menuOf', page.title)} items={items} />
    </>
  );
}

function Kept({ page, parts }: { page: Page; parts: readonly Attachment[] }): JSX.Element {
  const [form, setForm] = useState<Form>('text');
  const copy = parts.find(({ kind, mime }) => kind === 'page_snapshot' || mime === 'multipart/related');
  const picture = parts.find(isPicture);
  const offered: readonly Form[] = ['text', ...(copy ? ['copy' as const] : []), ...(picture ? ['picture' as const] : [])];
  return (
    <>
      <div class="reader-about">
        <p class="hint">{[siteOf(page.url), t('keptOn', dateAndTime(page.capturedAt))].filter(Boolean).join(' · ')}</p>
        {page.cut && <p class="hint cut">{t('pageCutWhy', inWords(page.cut.reason))}</p>}
        {offered.length > 1 && (
          <div class="shelves" role="group" aria-label={t('formsOfPage')}>
            {offered.map((each) => (
              <button key={each} type="button" aria-pressed={form === each} data-testid={TESTID.readerForm} data-form={each} onClick={() => setForm(each)}>
                {t(FORMS[each])}
              </button>
            ))}
          </div>
        )}
      </div>
      {form === 'text' && <Text page={page} parts={parts} />}
      {form === 'copy' && copy && <Copy part={copy} title={page.title} />}
      {form === 'picture' && picture && <Whole part={picture} title={page.title} />}
    </>
  );
}

/** As much is drawn at once; the rest when it is wanted. */
const PIECE = 100_000;

function Text({ page, parts }: { page: Page; parts: readonly Attachment[] }): JSX.Element {
  const [text, setText] = useState<string | null>(page.text ?? null);
  const [end, setEnd] = useState(PIECE);
  useEffect(() => {
    setEnd(PIECE);
    setText(page.text ?? null);
    if (page.text === undefined) textPart(parts).then(setText, () => setText(null));
  }, [page.id, parts]);
  const shown = text === null ? '' : wholeLines(text, end);
  return (
    <article class="reader-text" data-testid={TESTID.readerText} dir="auto" tabIndex={0}>
      {page.selection !== undefined && <blockquote>{page.selection}</blockquote>}
      {text === null ? <p class="hint">{t('pageHasNoText')}</p> : <Markdown source={shown} growing={false} />}
      {text !== null && shown.length < text.length && (
        <button type="button" class="button" onClick={() => setEnd(end + PIECE)}>
          {t('readOn', sizeText(text.length - shown.length))}
        </button>
      )}
    </article>
  );
}

function wholeLines(text: string, end: number): string {
  if (text.length <= end) return text;
  const line = text.lastIndexOf('\n', end);
  return line > end / 2 ? text.slice(0, line) : cutText(text, end);
}

function Copy({ part, title }: { part: Attachment; title: string }): JSX.Element {
  const [html, setHtml] = useState<string | null | undefined>(undefined);
  useEffect(() => {
    let wanted = true;
    const work = async (): Promise<string> => documentOf(parseMhtml(await binaryOf(await bytesOf(part.id))));
    work().then((made) => wanted && setHtml(made), () => wanted && setHtml(null));
    return () => {
      wanted = false;
    };
  }, [part.id]);
  if (html === null) return <p class="problem waiting-page">{t('copyUnreadable')}</p>;
  if (html === undefined) return <p class="hint waiting-page" role="status">{t('loading')}</p>;
  // No rights at all: no scripts, no forms, no windows, an origin of its own; and a policy without any network.
  return <iframe class="reader-copy" data-testid={TESTID.readerCopy} sandbox="" referrerpolicy="no-referrer" title={t('copyOf', title)} srcDoc={html} />;
}

function Whole({ part, title }: { part: Attachment; title: string }): JSX.Element {
  const { url, failed } = useUrl(part.id);
  if (failed) return <p class="problem waiting-page">{t('codeNotFound')}</p>;
  return (
    <div class="reader-picture" tabIndex={0} role="group" aria-label={t('pictureOf', title)}>
      {url ? <img src={url} alt={t('pictureOf', title)} /> : <p class="hint">{t('loading')}</p>}
    </div>
  );
}
