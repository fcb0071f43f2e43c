import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('src/page'),
  // Relative, so that the page may be served anywhere.
  base: './',
  // The other packages are taken as sources: the page can be built before they are.
  resolve: { conditions: ['@queuelock/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: here('dist/page'),
    emptyOutDir: true,
    // What the newest styles need: light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // Nothing is put into the page itself, which its content security policy would refuse.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
