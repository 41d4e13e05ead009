// What is built: small at the start, the heavy libraries apart, and a manifest that asks for little.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, type Rolldown } from 'vite';
import { beforeAll, describe, expect, test, vi } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
let output: (Rolldown.OutputChunk | Rolldown.OutputAsset)[];

beforeAll(async () => {
  // As it ships: under a test's own environment every element would carry the place of its source.
  vi.stubEnv('NODE_ENV', 'production');
  const built = await build({ root, logLevel: 'silent', build: { write: false } });
  output = (built as Rolldown.RolldownOutput).output;
  vi.unstubAllEnvs();
}, 60_000);

const chunk = (name: string): Rolldown.OutputChunk => {
  const found = output.find((each) => each.type === 'chunk' && each.fileName === name);
  if (found?.type !== 'chunk') throw new Error(`${name} was not built`);
  return found;
};
/** The chunk and all that it loads before it runs. */
function withImports(name: string): Rolldown.OutputChunk[] {
  const all = new Map<string, Rolldown.OutputChunk>();
  const follow = (each: string): void => {
    if (all.has(each)) return;
    all.set(each, chunk(each));
    chunk(each).imports.forEach(follow);
  };
  follow(name);
  return [...all.values()];
}
const modules = (name: string): string[] => withImports(name).flatMap((each) => each.moduleIds);

describe('the start of the panel', () => {
  test('loads neither formulas nor colours of code', () => {
    expect(modules('sidepanel.js').filter((id) => /node_modules\/(katex|highlight\.js)\//.test(id))).toEqual([]);
  });

  test('they come when first needed', () => {
    const { dynamicImports } = chunk('sidepanel.js');
    const later = output.flatMap((each) => (each.type === 'chunk' && dynamicImports.includes(each.fileName) ? each.moduleIds : []));
    expect(later.some((id) => /node_modules\/katex\//.test(id)) && later.some((id) => /node_modules\/highlight\.js\//.test(id))).toBe(true);
  });

  test('is below 240 kB of script in all', () => {
    const bytes = withImports('sidepanel.js').reduce((sum, each) => sum + Buffer.byteLength(each.code), 0);
    expect(bytes).toBeLessThan(240_000);
    expect(bytes).toBeGreaterThan(50_000);
  });

  test('the worker is below 24 kB and has nothing of the panel', () => {
    expect(withImports('worker.js').reduce((sum, each) => sum + Buffer.byteLength(each.code), 0)).toBeLessThan(24_000);
    expect(modules('worker.js').filter((id) => /src\/panel\/|node_modules/.test(id))).toEqual([]);
  });

  test('nothing is fetched from elsewhere', () => {
    const html = output.find((each) => each.fileName === 'sidepanel.html');
    const text = html?.type === 'asset' ? String(html.source) : '';
    expect(text.match(/(src|href)="[^"]*"/g)?.every((each) => /="\.\//.test(each))).toBe(true);
  });

  test('fonts of formulas come in one form', () => {
    expect(output.filter((each) => /\.(woff|ttf)$/.test(each.fileName))).toEqual([]);
  });
});

describe('the manifest', () => {
  const manifest = (): Record<string, unknown> => {
    const found = output.find((each) => each.fileName === 'manifest.json');
    return JSON.parse(found?.type === 'asset' ? String(found.source) : '{}') as Record<string, unknown>;
  };

  test('asks for no host at the start', () => {
    expect(manifest()['host_permissions']).toBeUndefined();
    expect(manifest()['permissions']).toEqual(['activeTab', 'contextMenus', 'nativeMessaging', 'scripting', 'sidePanel', 'storage']);
    expect(manifest()['content_scripts']).toBeUndefined();
  });

  test('D12: is not for private windows', () => expect(manifest()['incognito']).toBe('not_allowed'));

  test('has the key whose extension the companion accepts', () => {
    const hash = createHash('sha256').update(Buffer.from(String(manifest()['key']), 'base64')).digest('hex').slice(0, 32);
    const id = [...hash].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
    const companion = readFileSync(resolve(root, '../host/sidekeep/wire/origins.py'), 'utf8');
    expect(companion).toContain(`EXTENSION_ID = "${id}"`);
  });
});
