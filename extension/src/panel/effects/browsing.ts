// What tools want of the browser: the text of a tab, a picture of it, the list of tabs. Shapes: docs/tools.md.
import { signal } from '@preact/signals';
import type { BrowserError, EventOf } from '../../protocol';
import { looksLikePdf, pageText, selection } from '../capture/read';
import { blockedBy, blockedSites, refuseBlocked, siteOf } from '../capture/sites';
import { allow, tabOf, tabsToOffer } from '../capture/tabs';
import { CannotRead, WHY } from '../capture/unreadable';
import { t } from '../i18n';
import { ask, listen, quietly, Refusal } from './session';
import { upload } from './uploads';

type Request = EventOf<'browser.request'>;
type Tab = chrome.tabs.Tab & { id: number };
interface Params { readonly tabId?: number; readonly site?: string; readonly mode?: string }

/** Characters of a page, so that the answer fits into one message however they are written. */
const LONGEST = 1_000_000;
/** The companion waits for a minute: what the person has not allowed by then is answered before it. */
const PATIENCE = 45_000;
const EVERYWHERE = ['<all_urls>'];

/** A request that waits for the click in which the browser may be asked for permission. */
export interface BrowserAccess {
  readonly requestId: string;
  readonly turnId: string;
  /** Empty: all sites. */
  readonly site: string;
  readonly origins: string[];
  settle(given: boolean): void;
}
export const browserAccess = signal<readonly BrowserAccess[]>([]);

/** A turn that has ended waits for no permission. */
listen((event) => {
  if (event.type !== 'turn.complete') return;
  for (const each of browserAccess.peek()) if (each.turnId === event.turnId) each.settle(false);
});

/** The click that was waited for. */
export async function giveBrowserAccess(wanted: BrowserAccess): Promise<void> {
  wanted.settle((await allow({ origins: wanted.origins })) === 'yes');
}

/** Does what a tool wants, and says what came of it. */
export async function browse(request: Request): Promise<void> {
  const { requestId } = request;
  let said: { ok: true; result: object } | { ok: false; error: BrowserError };
  try {
    said = { ok: true, result: await done(request) };
  } catch (error) {
    said = { ok: false, error: errorOf(error) };
  }
  // Too late is a conflict, and a host that went asks the next one again: neither is for anybody to see.
  await quietly(async () => void (await ask('browser.response', { requestId, ...said })));
}

function errorOf(error: unknown): BrowserError {
  if (error instanceof CannotRead) {
    return { code: error.why === 'no_access' ? 'needs_permission' : error.why, message: t(WHY[error.why], error.about) };
  }
  if (error instanceof Refusal) return { code: error.code, message: error.message || error.code };
  return { code: 'internal', message: String(error) };
}

function done(request: Request): Promise<object> {
  const params = request.params as Params;
  switch (request.tool) {
    case 'read_page':
      return allowed(request, () => originsFor(params.site ?? ''), params.site ?? '', () => read(params));
    case 'screenshot':
      return allowed(request, () => EVERYWHERE, '', () => picture(request.threadId, params));
    case 'list_tabs':
      return list(request);
    default:
      return Promise.reject(new Refusal('unsupported', `This browser has no tool ${request.tool}.`));
  }
}

async function read(params: Params): Promise<object> {
  const tab = await boundTab(params);
  if (params.mode === 'selection') return onSite(params, { url: tab.url ?? '', title: tab.title ?? '', text: await selection(tab) });
  try {
    if (looksLikePdf(tab.url)) throw new CannotRead('pdf');
    const { url, title, text } = await pageText(tab, LONGEST, params.mode === 'snapshot');
    return onSite(params, { url, title, text });
  } catch (error) {
    if (!(error instanceof CannotRead) || error.why !== 'pdf') throw error;
    const { readPdf, textOfAttachment } = await import('../capture/pdf');
    const { url, title, textId } = await readPdf(tab);
    return onSite(params, { url, title, text: await textOfAttachment(textId, LONGEST) });
  }
}

async function picture(threadId: string, params: Params): Promise<object> {
  const tab = await boundTab(params);
  const { visiblePicture } = await import('../capture/picture');
  const { bytes, width: w, height: h } = await visiblePicture(tab);
  const now = await boundTab(params);
  const url = (now.url ?? '').toWellFormed();
  const title = (now.title ?? '').toWellFormed();
  const meta = { url, title, w, h };
  const about = { threadId, kind: 'screenshot', mime: bytes.type, provenance: 'page', trust: 'untrusted', sourceRef: url, meta } as const;
  const { attachmentId } = await upload({ bytes, ...about });
  return { url, title, attachmentId };
}

/** Without permission the browser tells neither titles nor addresses: what it tells is listed, if the person will have it so. */
async function list(request: Request): Promise<object> {
  let tabs = await tabsToOffer();
  if (tabs.some((tab) => tab.url === undefined) && (await access(request, EVERYWHERE, ''))) tabs = await tabsToOffer();
  const blocked = await blockedSites();
  const told = tabs.filter((tab): tab is Tab & { url: string } => tab.url !== undefined && blockedBy(tab.url, blocked) === null);
  if (told.length === 0 && tabs.some((tab) => tab.url === undefined)) throw new CannotRead('no_access', t('allSites'));
  return {
    tabs: told.map(({ id, title, url, active }) => ({ tabId: id, title: (title ?? '').toWellFormed(), url: url.toWellFormed(), active })),
  };
}

/** The tab, while it shows the site that was allowed. Raises CannotRead. */
async function boundTab({ tabId, site }: Params): Promise<Tab> {
  const tab = await tabOf(tabId);
  if (tab.url === undefined) throw new CannotRead('no_access', site ?? '');
  await refuseBlocked(tab.url);
  if (siteOf(tab.url) !== site) throw new CannotRead('moved');
  return tab;
}

function onSite({ site }: Params, page: { url: string; title: string; text: string }): object {
  if (siteOf(page.url) !== site) throw new CannotRead('moved');
  return { url: page.url.toWellFormed(), title: page.title.toWellFormed(), text: page.text };
}

/** `site` comes without `www.`, and the page may be at the name that has it. */
function originsFor(site: string): string[] {
  if (site === '') return EVERYWHERE;
  return /^[\d.]+$|^\[/.test(site) ? [`*://${site}/*`] : [`*://${site}/*`, `*://www.${site}/*`];
}

/** Does `work`; where the browser does not let us, again once the person has clicked. */
async function allowed(request: Request, origins: () => string[], site: string, work: () => Promise<object>): Promise<object> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CannotRead) || error.why !== 'no_access' || !(await access(request, origins(), site))) throw error;
    return work();
  }
}

/** True once the person has given access, at the latest after a while. */
function access({ requestId, turnId }: Request, origins: string[], site: string): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (given: boolean): void => {
      clearTimeout(timer);
      browserAccess.value = browserAccess.peek().filter((each) => each !== card);
      resolve(given);
    };
    const timer = setTimeout(() => settle(false), PATIENCE);
    const card: BrowserAccess = { requestId, turnId, site, origins, settle };
    browserAccess.value = [...browserAccess.peek().filter((each) => each.requestId !== requestId), card];
  });
}
