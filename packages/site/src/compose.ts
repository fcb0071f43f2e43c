/** Makes the text of a page from its parts, with links that lead within the site, or else to the repository. */
import { posix } from 'node:path';
import { anchorsOf, rewriteLinks, type Link } from '../../../.ci/links.ts';
import type { Page, Part } from './contents/page.ts';

/** What a page is made from. */
export interface Sources {
  /** The text of a file, by its path from the root of the repository. */
  readonly read: (file: string) => string;
  /** What there is at a path. */
  readonly kindOf: (path: string) => 'file' | 'folder' | 'none';
  /** The web address of the repository. */
  readonly repository: string;
  /** From a page's folder, which is so many levels below the content, to the root of the repository. */
  readonly rootFrom: (levels: number) => string;
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

/** The position of a link. */
interface Place {
  readonly page: Page;
  readonly part: Part;
}

/** The pages of a site, as texts. */
export class Composer {
  readonly #pages: readonly Page[];
  readonly #sources: Sources;

  constructor(pages: readonly Page[], sources: Sources) {
    this.#pages = pages;
    this.#sources = sources;
  }

  /** The whole page. Only the first heading of the first level stays. */
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

  /** Where a link leads on the site; `undefined` when it leads nowhere. */
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

  /** The page that shows a file, or that heading of it. */
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

/** The text above the first heading of the second level, then each section. Headings in code blocks do not count. */
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
