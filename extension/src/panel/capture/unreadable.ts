// Why a page cannot be captured, from what the browser says and where the page is.
import type { MessageKey } from '../i18n';

export type Unreadable =
  | 'no_tab' | 'no_access' | 'browser_page' | 'store' | 'extension_page' | 'error_page' | 'source_view' | 'blank' | 'no_text'
  | 'drawn' | 'too_slow' | 'gone' | 'blocked' | 'blocked_inside' | 'no_selection' | 'not_in_front' | 'moved' | 'no_picture'
  | 'no_copy' | 'local_file' | 'pdf' | 'pdf_scanned' | 'pdf_unread' | 'no_fetch' | 'no_page_there' | 'too_large' | 'unknown';

export class CannotRead extends Error {
  /** `about` fills the sentence: a site, mostly. */
  constructor(readonly why: Unreadable, readonly about = '') {
    super(why);
  }
}

const BY_URL: readonly (readonly [RegExp, Unreadable])[] = [
  [/^(about:blank|about:srcdoc|$)/, 'blank'],
  [/^view-source:/, 'source_view'],
  [/^https:\/\/(chromewebstore\.google\.com|chrome\.google\.com\/webstore|microsoftedge\.microsoft\.com\/addons)/, 'store'],
  [/^chrome-extension:/, 'extension_page'],
  [/^(chrome|edge|brave|vivaldi|opera|devtools|chrome-untrusted|about):/, 'browser_page'],
  [/^data:/, 'browser_page'],
];

const BY_ERROR: readonly (readonly [RegExp, Unreadable])[] = [
  [/showing error page/i, 'error_page'],
  [/gallery|webstore/i, 'store'],
  [/chrome-extension:/i, 'extension_page'],
  [/cannot access a chrome|chrome:\/\/|about:|devtools/i, 'browser_page'],
  [/no tab with id|tab was closed|frame was removed/i, 'gone'],
  [/file:/i, 'local_file'],
  [/must request permission|cannot access contents|missing host permission|'<all_urls>' or 'activeTab'/i, 'no_access'],
];

export function refusalOf(error: string, url: string | undefined): Unreadable {
  const byError = BY_ERROR.find(([pattern]) => pattern.test(error))?.[1];
  const byUrl = url === undefined ? undefined : BY_URL.find(([pattern]) => pattern.test(url))?.[1];
  return byUrl ?? byError ?? 'unknown';
}

export const WHY: Readonly<Record<Unreadable, MessageKey>> = {
  no_tab: 'readNoTab',
  no_access: 'readNoAccess',
  browser_page: 'readBrowserPage',
  store: 'readStore',
  extension_page: 'readExtensionPage',
  error_page: 'readErrorPage',
  source_view: 'readSourceView',
  blank: 'readBlank',
  no_text: 'readNoText',
  drawn: 'readDrawn',
  too_slow: 'readTooSlow',
  gone: 'readGone',
  blocked: 'readBlocked',
  blocked_inside: 'readBlockedInside',
  no_selection: 'readNoSelection',
  not_in_front: 'readNotInFront',
  moved: 'readMoved',
  no_picture: 'readNoPicture',
  no_copy: 'readNoCopy',
  local_file: 'readLocalFile',
  pdf: 'readPdfUnread',
  pdf_scanned: 'readPdfScanned',
  pdf_unread: 'readPdfUnread',
  no_fetch: 'readNoFetch',
  no_page_there: 'readNoPageThere',
  too_large: 'readTooLarge',
  unknown: 'readUnknown',
};
