// Sizes of bytes as people read them.
import { locale } from '../i18n';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value.toLocaleString(locale(), { maximumFractionDigits: value < 10 && power > 0 ? 1 : 0 })} ${UNITS[power]}`;
}

/** What kind of file it is, in a word: the end of its name, else of its type. */
export function typeText(name: string, mime: string): string {
  const ending = /\.([\p{L}\p{N}]{1,8})$/u.exec(name)?.[1];
  return (ending ?? mime.split(/[/+.]/).at(-1) ?? '').toUpperCase();
}
