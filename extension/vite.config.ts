// Builds the panel and the service worker, and writes the manifest with the fixed key.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const here = import.meta.dirname;

/** The id of the extension comes from this key, and hosts accept only that id. */
function manifest(): Plugin {
  return {
    name: 'sidekeep-manifest',
    generateBundle() {
      const key = readFileSync(resolve(here, '../manifests/extension-key.txt'), 'utf8').trim();
      const pack = JSON.parse(readFileSync(resolve(here, 'package.json'), 'utf8')) as { version: string };
      const source = JSON.parse(readFileSync(resolve(here, 'manifest.json'), 'utf8')) as Record<string, unknown>;
      this.emitFile({
        type: 'asset',
        fileName: 'manifest.json',
        source: `${JSON.stringify({ ...source, version: pack.version, key }, null, 2)}\n`,
      });
    },
  };
}

/** Every browser that runs this reads woff2; the older forms of the formula fonts would only fill the package. */
function newestFonts(): Plugin {
  return {
    name: 'sidekeep-fonts',
    generateBundle(_options, bundle) {
      for (const name of Object.keys(bundle)) if (/\.(woff|ttf)$/.test(name)) delete bundle[name];
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [manifest(), newestFonts()],
  resolve: {
    alias: [
      { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
      { find: /^react(-dom)?$/, replacement: 'preact/compat' },
    ],
  },
  build: {
    target: 'chrome123',
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      // The virtual list says "use client", which means nothing here.
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
      input: { sidepanel: resolve(here, 'sidepanel.html'), worker: resolve(here, 'src/worker/main.ts') },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  test: {
    environment: 'node',
    include: ['tests/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    sequence: { shuffle: true },
    // The virtual list asks for React, which is Preact here: only what goes through the build hears of that.
    server: { deps: { inline: ['virtua'] } },
  },
});
