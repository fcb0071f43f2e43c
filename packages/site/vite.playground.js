import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const platform = (name) => [`node:${name}`, here(`playground/platform/${name}.ts`)];

// Modules of Node that the core, the memory store and the bridge import. The playground replaces them by
// modules that run in browsers.
const replaced = ['async_hooks', 'crypto', 'diagnostics_channel', 'events', 'fs', 'net', 'os', 'util'];

export default defineConfig({
  root: here('playground'),
  base: './',
  resolve: {
    conditions: ['@queuelock/source', ...defaultClientConditions],
    alias: Object.fromEntries(replaced.map(platform)),
  },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: here('.content/public/playground-page'),
    emptyOutDir: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    // The chunk has React, the views of the dashboard, the bridge and the store: 160 KB gzipped.
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
