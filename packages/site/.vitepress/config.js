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
  // These are the same texts for programs, which find them at their addresses with the ending .md.
  srcExclude: ['public/**'],
  outDir: 'dist',
  // The index of the search is one chunk.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  cacheDir: '.cache',
  cleanUrls: true,
  // Texts come from Markdown files that say `<name>` and mean it, and whose links have the anchors of GitHub.
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
