/** Makes the text of a page from its parts, with links that lead within the site, or else to the repository. */
import { posix } from 'node:path';
import { anchorsOf, rewriteLinks, type Link } from '../../../.ci/links.ts';
import type { Page, Part } from './contents.ts';

/** What a page is made from. */
export interface Sources {
  /** The text of a file, by its path from the root of the repository. */
  read(file: string): string;
  /** What there is at a path. */
  kindOf(path: string): 'file' | 'folder' | 'none';
  /** The web address of the repository. */
  readonly repository: string;
  /** From a page's folder, which is so many levels below the content, to the root of the repository. */
  rootFrom(levels: number): string;
}

/** A page as it is written, and what is wrong with it. */
export interface Composed {
  readonly text: string;
  readonly wrong: readonly string[];
}

const COMMENT = /^<!--[\s\S]*?-->\n?/gm;

/** The text of a part: the file, or its sections. An error names a heading that the file does not have. */
export function textOfPart(part: Part, read: Sources['read']): string {
  const [top = '', ...sections] = sectionsOf(read(part.file).replace(COMMENT, ''));
  const named = new Map(sections.map((section) => [headingOf(section), section]));
  for (const heading of [...(part.sections ?? []), ...(part.without ?? [])])
    if (!named.has(heading)) throw new Error(`${part.file} has no section "${heading}"`);
  if (part.sections !== undefined) return part.sections.map((heading) => named.get(heading)).join('');
  return [top, ...sections.filter((section) => !part.without?.includes(headingOf(section)))].join('');
}

/** The whole page. Only the first heading of the first level stays. */
export function compose(page: Page, pages: readonly Page[], sources: Sources): Composed {
  const wrong: string[] = [];
  const texts = page.parts.map((part) => {
    const text = textOfPart(part, sources.read);
    return rewriteLinks(text, (link) => targetOf(link, part, page, pages, sources, wrong));
  });
  const [first = ''] = texts;
  const hasHeading = /^# /m.test(first.split('\n## ')[0] ?? '');
  const [head, ...others] = hasHeading ? texts : [`# ${page.title}\n\n`, ...texts];
  const rest = others.map((text) => text.replace(/^# (.*)$/m, '## $1'));
  return { text: `${frontmatter(page)}${[head, ...rest].join('\n')}`, wrong };
}

function frontmatter({ title, about }: Page): string {
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(about)}\n---\n\n`;
}

function targetOf(
  { path, anchor, isImage }: Link,
  part: Part,
  page: Page,
  pages: readonly Page[],
  sources: Sources,
  wrong: string[],
): string | undefined {
  if (path.startsWith('/')) {
    if (!pages.some(({ route }) => `/${route}` === path))
      wrong.push(`${part.file}: there is no page ${path}`);
    return undefined;
  }
  const target = path === '' ? part.file : posix.join(posix.dirname(part.file), path);
  const kind = sources.kindOf(target);
  if (kind === 'none') {
    wrong.push(`${part.file}: ${path} leads nowhere`);
    return undefined;
  }
  if (isImage) return posix.join(sources.rootFrom(page.route.split('/').length - 1), target);
  const file = kind === 'folder' ? posix.join(target, 'README.md') : target;
  const found = pageWith(file, anchor, pages, sources);
  if (found !== undefined)
    return found.route === page.route && anchor !== '' ? anchor : `/${found.route}${anchor}`;
  if (anchor !== '' && file.endsWith('.md') && !anchorsOf(sources.read(file)).includes(anchor.slice(1)))
    wrong.push(`${part.file}: ${file} has no heading ${anchor}`);
  return `${sources.repository}/${kind === 'folder' ? 'tree' : 'blob'}/main/${target}${anchor}`;
}

/** The page that shows a file, or that heading of it. */
function pageWith(file: string, anchor: string, pages: readonly Page[], { read }: Sources): Page | undefined {
  const showing = pages.filter(({ parts }) => parts.some((part) => part.file === file));
  if (anchor !== '')
    return showing.find(({ parts }) =>
      parts.some((part) => part.file === file && anchorsOf(textOfPart(part, read)).includes(anchor.slice(1))),
    );
  return (
    showing.find(({ parts }) => parts.some((part) => part.file === file && part.sections === undefined)) ??
    showing[0]
  );
}

/** What stands above the first heading of the second level, then each section. Headings in code are none. */
function sectionsOf(text: string): readonly string[] {
  const found: string[] = [''];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^(```|~~~)/.test(line)) isCode = !isCode;
    if (!isCode && line.startsWith('## ')) found.push('');
    found[found.length - 1] += `${line}\n`;
  }
  return found;
}

function headingOf(section: string): string {
  return /^## (.*)$/m.exec(section)?.[1] ?? '';
}
