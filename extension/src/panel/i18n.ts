// The panel's words. Keys are checked by the compiler; a chosen language wins over the browser's.
import type messages from '../../public/_locales/en/messages.json';
import type { Language } from './state/model';

export type MessageKey = keyof typeof messages;
type Dictionary = Readonly<Record<string, { readonly message: string }>>;

let chosen: Dictionary | null = null;

/** Loads the words of a language other than the browser's. */
export async function speak(language: Language): Promise<void> {
  if (language === 'auto') {
    chosen = null;
  } else {
    const response = await fetch(chrome.runtime.getURL(`_locales/${language}/messages.json`));
    chosen = (await response.json()) as Dictionary;
  }
  document.documentElement.lang = locale();
}

export function t(key: MessageKey, ...values: readonly (string | number)[]): string {
  const words = values.map(String);
  const pattern = chosen?.[key]?.message;
  if (pattern === undefined) return chrome.i18n.getMessage(key, words) || key;
  return pattern.replace(/\$([1-9])/g, (whole, place: string) => words[Number(place) - 1] ?? whole);
}

/** BCP 47, for dates, numbers and the document. */
export function locale(): string {
  const [language] = [chosen?.['languageTag']?.message ?? chrome.i18n.getMessage('languageTag')];
  return language || 'en';
}
