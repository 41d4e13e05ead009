// Why a page cannot be read, from what the browser says and where the page is.
import type { MessageKey } from '../i18n';

export type Unreadable =
  | 'no_tab' | 'no_access' | 'browser_page' | 'store' | 'extension_page' | 'error_page' | 'source_view' | 'pdf'
  | 'blank' | 'no_text' | 'too_slow' | 'gone' | 'unknown';

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
  [/must request permission|cannot access contents|missing host permission/i, 'no_access'],
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
  pdf: 'readPdf',
  blank: 'readBlank',
  no_text: 'readNoText',
  too_slow: 'readTooSlow',
  gone: 'readGone',
  unknown: 'readUnknown',
};
