// C1: every colour of text stands out from every ground it is used on, in light and dark (WCAG 2.2, 4.5 : 1).
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const folder = resolve(import.meta.dirname, '../../src/panel/style');
const css = ['tokens.css', 'code.css'].map((name) => readFileSync(resolve(folder, name), 'utf8')).join('\n');
const tokens = new Map([...css.matchAll(/(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [name, { light, dark }]));

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ['--ground', '--surface', '--raised', '--hover', '--bubble'];
const TEXTS = ['--text', '--muted', '--accent'];
const PAIRS: readonly (readonly [string, string, number])[] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground) => [text, ground, 4.5] as const)),
  ...['--danger', '--warn', '--good'].flatMap((text) => ['--ground', '--surface', '--raised'].map((ground) => [text, ground, 4.5] as const)),
  ['--danger', '--danger-ground', 4.5],
  ['--text', '--danger-ground', 4.5],
  ['--muted', '--danger-ground', 4.5],
  ['--warn', '--warn-ground', 4.5],
  ['--text', '--warn-ground', 4.5],
  ['--on-accent', '--accent', 4.5],
  ['--ground', '--danger', 4.5],
  ...['--code-word', '--code-text', '--code-number', '--code-name', '--muted', '--text'].map((text) => [text, '--code-ground', 4.5] as const),
  // Borders of fields are no text.
  ['--line-strong', '--ground', 3],
  ['--line-strong', '--raised', 3],
];

describe.each(['light', 'dark'] as const)('%s', (scheme) => {
  test.each(PAIRS)('%s on %s', (text, ground, least) => {
    const [one, other] = [tokens.get(text)?.[scheme], tokens.get(ground)?.[scheme]] as [string, string];
    expect(contrast(one, other)).toBeGreaterThanOrEqual(least);
  });
});

test('the measure is the one of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

test('no colour is written outside the tokens that is not measured', () => {
  const all = ['chat', 'list', 'composer', 'cards', 'controls', 'layout', 'markdown', 'settings', 'dialog'].map((name) =>
    readFileSync(resolve(folder, `${name}.css`), 'utf8'),
  );
  const texts = all.join('\n').match(/(?<![\w-])color: (?!var\(|inherit|transparent)[^;]+/g) ?? [];
  expect(texts).toEqual([]);
});
