// Builds the script that reads a page: one classic file, since the browser injects no modules.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    target: 'chrome123',
    emptyOutDir: false,
    lib: {
      entry: resolve(import.meta.dirname, 'src/page/reader.ts'),
      formats: ['iife'],
      name: 'sidekeepReader',
      fileName: () => 'page-reader.js',
    },
  },
});
