// Sites that are never captured: the companion's setting, and what this browser remembers of it while nobody answers.
import { link } from '../store';
import { ask, Refusal } from '../effects/session';
import { inPage } from './inject';
import { CannotRead } from './unreadable';

const SETTING = 'capture.blocked_sites';
const REMEMBERED = 'blockedSites';

/** The host of an address in lower case, without port and `www.`; empty where there is none. As the companion does it. */
export function siteOf(url: string): string {
  const [scheme, ...rest] = url.split('://');
  if (!scheme || rest.length === 0) return '';
  const authority = rest.join('://').split(/[/?#\\]/, 1)[0] ?? '';
  const name = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  const host = name.startsWith('[') ? `${name.split(']', 1)[0]}]` : (name.split(':', 1)[0] ?? '');
  return host.replace(/^www\./, '').replace(/\.+$/, '');
}

/** A site as a person names it, by its name or by an address on it. */
export function siteNamed(text: string): string {
  const words = text.trim();
  if (words.includes('://')) return siteOf(words);
  // An international name as the address bar shows it; the browser's addresses have its other form.
  const plain = words.replace(/^\*\./, '');
  return URL.canParse(`https://${plain}`) ? siteOf(new URL(`https://${plain}`).href) : siteOf(`x://${plain}`);
}

/** The named site that `url` is on, or null; `*` is every site, and stands for a list that was damaged. */
export function blockedBy(url: string, blocked: readonly string[]): string | null {
  // Some schemes wrap an address: `view-source:https://…`, `blob:https://…`.
  const site = siteOf(url);
  if (site === '') return null;
  return blocked.map(siteNamed).find((name) => name !== '' && (name === '*' || site === name || site.endsWith(`.${name}`))) ?? null;
}

/** The list as it is now; what was last known of it where no companion answers. */
export async function blockedSites(): Promise<readonly string[]> {
  if (link.peek().phase === 'ready') {
    try {
      const { data } = await ask('settings.get', { keys: [SETTING] });
      const sites = (data.settings[SETTING] as string[] | undefined) ?? [];
      await chrome.storage.local.set({ [REMEMBERED]: sites });
      return sites;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  const kept = await chrome.storage.local.get(REMEMBERED);
  return (kept[REMEMBERED] as string[] | undefined) ?? [];
}

/** Raises CannotRead when one of these addresses is on a site that is never captured. */
export async function refuseBlocked(...urls: (string | undefined)[]): Promise<void> {
  const blocked = await blockedSites();
  for (const url of urls) {
    const site = url === undefined ? null : blockedBy(url, blocked);
    if (site !== null) throw new CannotRead('blocked', site);
  }
}

/** The same for what a page shows in its frames: a picture or a copy would hold it. Where no script runs there are none. */
export async function refuseBlockedInside(tab: chrome.tabs.Tab & { id: number }): Promise<void> {
  const blocked = await blockedSites();
  if (blocked.length === 0) return;
  const frames = await inPage(tab, 'framesHere').catch(() => []);
  for (const url of frames.flat()) {
    const site = blockedBy(url, blocked);
    if (site !== null) throw new CannotRead('blocked_inside', site);
  }
}
