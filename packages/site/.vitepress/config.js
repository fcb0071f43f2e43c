import { defineConfig } from 'vitepress';
import { slugOf } from '../../../.ci/links.ts';
import { CHAPTERS } from '../src/contents.ts';

const REFERENCE = { text: 'Reference', items: [{ text: 'API', link: '/api/' }], collapsed: true };

export default defineConfig({
  title: 'queuelock',
  description:
    'Fair distributed locks for Node over etcd, ZooKeeper, Consul, Redis, PostgreSQL, MySQL and SQLite',
  base: process.env.QUEUELOCK_SITE_BASE ?? '/',
  srcDir: '.content',
  // `public/**` has the same texts as Markdown files for programs, so VitePress must not make pages of them.
  srcExclude: ['public/**'],
  outDir: 'dist',
  // The index of the search is a single chunk, which is larger than Vite's default limit for warnings.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  cacheDir: '.cache',
  cleanUrls: true,
  // HTML is off, because the Markdown files contain `<name>` as plain text. Anchors have GitHub's form,
  // because the links in the files use it.
  markdown: { html: false, anchor: { slugify: slugOf } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Playground', link: '/playground' },
      { text: 'Stores', link: '/choosing-a-store' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [
      ...CHAPTERS.map(({ title, pages }, at) => ({
        text: title,
        collapsed: at > 1,
        items: pages.map((page) => ({ text: page.title, link: `/${page.route}` })),
      })),
      REFERENCE,
    ],
    outline: [2, 3],
  },
});
