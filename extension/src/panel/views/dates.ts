// Dates as the panel's language writes them; making a formatter is dear, so each is made once.
import { locale } from '../i18n';

const made = new Map<string, Intl.DateTimeFormat>();

function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale(), options]);
  const known = made.get(key) ?? new Intl.DateTimeFormat(locale(), options);
  made.set(key, known);
  return known;
}

/** The time today, else the day. */
export function shortDate(at: number): string {
  const today = new Date().toDateString() === new Date(at).toDateString();
  return formatter(today ? { timeStyle: 'short' } : { dateStyle: 'medium' }).format(at);
}

export function dateAndTime(at: number): string {
  return formatter({ dateStyle: 'medium', timeStyle: 'short' }).format(at);
}
