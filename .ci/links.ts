/** Finds links to other files in Markdown pages, and replaces them. */

/** The target of a link, as written in the page. */
export interface Link {
  /** The target of the link without its anchor; empty for a link within the page. */
  readonly path: string;
  /** The anchor of the link with its `#`, or an empty string. */
  readonly anchor: string;
  /** Whether the page embeds the target as an image. */
  readonly isImage: boolean;
}

const FENCED = /^(```+|~~~+)[^\n]*\n[\s\S]*?^\1[ \t]*$/gm;
/** Matches inline code, an inline link, or the definition of a reference link. */
const LINK = /`[^`\n]*`|(\]\()([^)\s]+)|^(\[[^\]]+\]: )(\S+)/gm;
const ADDRESS = /^(?:[a-z][\w+.-]*:|\/\/)/i;
const IMAGE_FILE = /\.(?:png|svg|gif|jpe?g)$/;

/**
 * Returns the page with each link to a file or a heading replaced by what the callback `write` returns. If it
 * returns `undefined`, the link stays. Web addresses and code are not changed.
 */
export function rewriteLinks(page: string, write: (link: Link) => string | undefined): string {
  return outsideOfCode(page, (text) =>
    text.replace(LINK, (whole, inline?: string, target?: string, definition?: string, defined?: string) => {
      const written = target ?? defined;
      if (written === undefined || ADDRESS.test(written)) return whole;
      const [path = '', heading] = written.split('#');
      const link = {
        path,
        anchor: heading === undefined ? '' : `#${heading}`,
        isImage: IMAGE_FILE.test(path),
      };
      return `${inline ?? definition ?? ''}${write(link) ?? written}`;
    }),
  );
}

/** Returns all links of a page to files and headings. */
export function linksOf(page: string): readonly Link[] {
  const found: Link[] = [];
  rewriteLinks(page, (link) => {
    found.push(link);
    return undefined;
  });
  return found;
}

function outsideOfCode(page: string, change: (text: string) => string): string {
  let [done, from] = ['', 0];
  for (const { 0: block, index } of page.matchAll(FENCED)) {
    done += change(page.slice(from, index)) + block;
    from = index + block.length;
  }
  return done + change(page.slice(from));
}

/** Returns the anchors of a page's headings, as GitHub generates them. */
export function anchorsOf(page: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...page.replace(FENCED, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    const anchor = slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${String(before)}`;
  });
}

/** Returns the anchor of the page's first heading with the given text. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
