/**
 * Builds the text of a page of the site from files of the repository. Rewrites links so that they lead to
 * pages of the site, or else to the repository on the web.
 */
import { posix } from 'node:path';
import { anchorsOf, rewriteLinks, type Link } from '../../../.ci/links.ts';
import type { Page, Part } from './contents/page.ts';

/** Access to the files of the repository. */
export interface Sources {
  /** Returns the text of a file, by its path from the root of the repository. */
  readonly read: (file: string) => string;
  /** Returns whether a path is a file, a folder, or does not exist. */
  readonly kindOf: (path: string) => 'file' | 'folder' | 'none';
  /** The web address of the repository. */
  readonly repository: string;
  /**
   * Returns the relative path from a page of the site to the root of the repository. `levels` is how many
   * folders deep the page is.
   */
  readonly rootFrom: (levels: number) => string;
}

/** The final text of a page, and the problems found in its links. */
export interface Composed {
  readonly text: string;
  readonly wrong: readonly string[];
}

const COMMENT = /^<!--[\s\S]*?-->\n?/gm;

/**
 * Returns the text of one part of a page: a whole file, or the named sections of it.
 * @throws when the part's file lacks one of the requested headings; the message names the heading
 */
export function textOfPart(part: Part, read: Sources['read']): string {
  const [top = '', ...sections] = sectionsOf(read(part.file).replace(COMMENT, ''));
  const named = new Map(sections.map((section) => [headingOf(section), section]));
  for (const heading of [...(part.sections ?? []), ...(part.without ?? [])])
    if (!named.has(heading)) throw new Error(`${part.file} has no section "${heading}"`);
  if (part.sections !== undefined) return part.sections.map((heading) => named.get(heading)).join('');
  return [top, ...sections.filter((section) => !part.without?.includes(headingOf(section)))].join('');
}

/** Where a link occurs: its page, and the part of the page. */
interface Place {
  readonly page: Page;
  readonly part: Part;
}

/** Builds the texts of the pages of a site. */
export class Composer {
  readonly #pages: readonly Page[];
  readonly #sources: Sources;

  constructor(pages: readonly Page[], sources: Sources) {
    this.#pages = pages;
    this.#sources = sources;
  }

  /**
   * Builds a whole page from its parts. A page has one heading of level 1: those of further parts become
   * headings of level 2.
   */
  compose(page: Page): Composed {
    const wrong: string[] = [];
    const texts = page.parts.map((part) =>
      rewriteLinks(textOfPart(part, this.#sources.read), (link) => {
        const target = this.#targetOf(link, { page, part });
        if (target !== undefined) return target;
        wrong.push(`${part.file}: ${link.path}${link.anchor} leads nowhere`);
        return undefined;
      }),
    );
    const [first = ''] = texts;
    const hasHeading = /^# /m.test(first.split('\n## ')[0] ?? '');
    const [head, ...others] = hasHeading ? texts : [`# ${page.title}\n\n`, ...texts];
    const rest = others.map((text) => text.replace(/^# (.*)$/m, '## $1'));
    return { text: `${frontmatter(page)}${[head, ...rest].join('\n')}`, wrong };
  }

  /** Returns where a link leads on the site, or `undefined` if its target does not exist. */
  #targetOf({ path, anchor, isImage }: Link, { page, part }: Place): string | undefined {
    if (path.startsWith('/'))
      return this.#pages.some(({ route }) => `/${route}` === path) ? path + anchor : undefined;
    const target = path === '' ? part.file : posix.join(posix.dirname(part.file), path);
    const kind = this.#sources.kindOf(target);
    if (kind === 'none') return undefined;
    if (isImage) return posix.join(this.#sources.rootFrom(page.route.split('/').length - 1), target);
    const file = kind === 'folder' ? posix.join(target, 'README.md') : target;
    const found = this.#pageWith(file, anchor);
    if (found !== undefined) return found === page && anchor !== '' ? anchor : `/${found.route}${anchor}`;
    if (anchor !== '' && file.endsWith('.md') && !this.#hasHeading({ file }, anchor)) return undefined;
    return `${this.#sources.repository}/${kind === 'folder' ? 'tree' : 'blob'}/main/${target}${anchor}`;
  }

  /** Returns the page of the site that contains a file, or the section `anchor` of the file. */
  #pageWith(file: string, anchor: string): Page | undefined {
    const isOfFile = (part: Part): boolean => part.file === file;
    const showing = this.#pages.filter(({ parts }) => parts.some(isOfFile));
    if (anchor !== '')
      return showing.find(({ parts }) =>
        parts.some((part) => isOfFile(part) && this.#hasHeading(part, anchor)),
      );
    return (
      showing.find(({ parts }) => parts.some((part) => isOfFile(part) && part.sections === undefined)) ??
      showing[0]
    );
  }

  #hasHeading(part: Part, anchor: string): boolean {
    return anchorsOf(textOfPart(part, this.#sources.read)).includes(anchor.slice(1));
  }
}

function frontmatter({ title, about }: Page): string {
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(about)}\n---\n\n`;
}

/**
 * Splits a page: first the text above its first heading of the second level, then each section. Headings in
 * code blocks do not count.
 */
function sectionsOf(text: string): readonly string[] {
  const sections: string[][] = [[]];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^(```|~~~)/.test(line)) isCode = !isCode;
    if (!isCode && line.startsWith('## ')) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections.map((lines) => `${lines.join('\n')}\n`);
}

function headingOf(section: string): string {
  return /^## (.*)$/m.exec(section)?.[1] ?? '';
}
