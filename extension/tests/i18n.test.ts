// @vitest-environment jsdom
// C1: English and Chinese: every word in both, every place of a value in both, and no key that nobody uses.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { locale, speak, t } from '../src/panel/i18n';
import { browserSpeaks, install, words } from './support/browser';

const root = resolve(import.meta.dirname, '..');
const english = words('en');
const chinese = words('zh_CN');

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? sources(resolve(folder, entry.name)) : [readFileSync(resolve(folder, entry.name), 'utf8')],
  );
}

const places = (text: string): string[] => [...new Set(text.match(/\$\d/g) ?? [])].toSorted();

describe('the words', () => {
  test('are the same keys in both languages', () => {
    expect(Object.keys(chinese).toSorted()).toEqual(Object.keys(english).toSorted());
  });

  test.each(Object.keys(english))('%s has its values in both and is not empty', (key) => {
    expect(chinese[key]?.message.trim()).not.toBe('');
    expect(english[key]?.message.trim()).not.toBe('');
    expect(places(chinese[key]?.message ?? '')).toEqual(places(english[key]?.message ?? ''));
  });

  test('in Chinese are Chinese', () => {
    const same = Object.keys(english).filter((key) => english[key]?.message === chinese[key]?.message);
    expect(same.toSorted()).toEqual(['extensionName']);
  });

  test('are all used', () => {
    const code = [...sources(resolve(root, 'src')), readFileSync(resolve(root, 'manifest.json'), 'utf8')].join('\n');
    const unused = Object.keys(english).filter((key) => !code.includes(`'${key}'`) && !code.includes(`="${key}"`) && !code.includes(`__MSG_${key}__`));
    expect(unused).toEqual([]);
  });
});

describe('speaking', () => {
  beforeEach(async () => {
    install();
    vi.stubGlobal('fetch', async (url: string) => ({ json: async () => words(/_locales\/(\w+)\//.exec(url)?.[1] ?? '') }));
    await speak('auto');
  });

  test('follows the browser until a language is chosen', async () => {
    expect(t('newChat')).toBe('New chat');
    browserSpeaks('zh_CN');
    expect(t('newChat')).toBe('新对话');
    await speak('en');
    expect([t('newChat'), locale(), document.documentElement.lang]).toEqual(['New chat', 'en', 'en']);
    await speak('zh_CN');
    expect([t('newChat'), document.documentElement.lang]).toEqual(['新对话', locale()]);
  });

  test('puts values where they belong, in either order', async () => {
    await speak('en');
    expect(t('cutTo', '1,000', '5,000')).toBe('first 1,000 of 5,000 characters');
    await speak('zh_CN');
    expect(t('cutTo', '1,000', '5,000')).toBe('5,000 个字符中的前 1,000 个');
  });

  test('a value that looks like a place is not taken for one', async () => {
    await speak('en');
    expect(t('menuOf', 'costs $1')).toBe('Menu of “costs $1”');
  });
});
