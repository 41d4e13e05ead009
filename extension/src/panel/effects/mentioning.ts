// The tabs that `@` offers, and the permission to know what they hold.
import { signal } from '@preact/signals';
import { allow, tabsToOffer } from '../capture/tabs';
import type { OfferedTab } from '../state/mention';

/** Null until they were asked for. */
export const offered = signal<readonly OfferedTab[] | null>(null);
/** The browser hides titles and addresses of some tabs from us. */
export const hiddenTabs = signal(false);

export async function offerTabs(): Promise<void> {
  const tabs = await tabsToOffer();
  const known = tabs.filter((tab) => tab.title !== undefined && tab.url !== undefined);
  hiddenTabs.value = known.length < tabs.length;
  offered.value = known.map((tab) => ({ id: tab.id as number, title: tab.title || (tab.url as string), url: tab.url as string }));
}

/** Must be called first thing in a click or key handler. */
export async function showAllTabs(): Promise<void> {
  if ((await allow({ origins: ['<all_urls>'] })) === 'yes') await offerTabs();
}
