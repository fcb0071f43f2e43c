import type { Chapter, Page } from './contents/page.ts';

/** Returns the text of `llms.txt`: the list of pages for language models, in the format of llmstxt.org. */
export function llmsTxt(chapters: readonly Chapter[]): string {
  const line = ({ title, route, about }: Page): string => `- [${title}](/${route}.md): ${about}`;
  const sections = chapters.map(({ title, pages }) => [`## ${title}`, '', ...pages.map(line)].join('\n'));
  return [
    '# queuelock',
    '',
    '> Fair distributed locks for Node in TypeScript, over etcd, ZooKeeper, Consul, Redis, PostgreSQL, MySQL, SQLite or memory. First come, first served; every grant has a fencing token.',
    '',
    'Each page is there as Markdown too, at its address with the ending `.md`. All of them together: [llms-full.txt](/llms-full.txt).',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}
