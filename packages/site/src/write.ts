import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Composer, type Sources } from './compose.ts';
import { CHAPTERS, PAGES } from './contents.ts';
import { llmsTxt } from './llms.ts';
import { ROOT } from './sources.ts';

/** The folder into which the pages are written for VitePress. */
export const CONTENT: string = join(ROOT, 'packages/site/.content');

/**
 * Deletes the former pages and writes all pages.
 * @throws when links have no target; the message lists all of them
 */
export function writePages(sources: Sources): void {
  rmSync(CONTENT, { recursive: true, force: true });
  const composer = new Composer(PAGES, sources);
  const composed = PAGES.map((page) => ({ page, ...composer.compose(page) }));
  const wrong = composed.flatMap((one) => one.wrong);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  for (const { page, text } of composed) {
    write(`${page.route}.md`, text);
    // Each page is also published as Markdown, for language models.
    write(`public/${page.route}.md`, text);
  }
  write('index.md', sources.read('packages/site/pages/index.md'));
  write('public/llms.txt', llmsTxt(CHAPTERS));
  write('public/llms-full.txt', composed.map(({ text }) => text).join('\n\n'));
}

function write(path: string, text: string): void {
  const file = join(CONTENT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
