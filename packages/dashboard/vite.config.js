import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('src/page'),
  // The base is relative, so that the page may be served at any path.
  base: './',
  // Other packages are resolved to their sources, so that the page can be built before they are.
  resolve: { conditions: ['@queuelock/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: here('dist/page'),
    emptyOutDir: true,
    // The oldest browsers that support all used styles, such as light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // Assets are not inlined into the page, because its content security policy would block them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
