/** One part of a page: a file of the repository, or some sections of the file. */
export interface Part {
  /** Path of the file from the root of the repository. */
  readonly file: string;
  /**
   * The sections of the file to show, by their headings of the second level, in this order. Default: the
   * whole file.
   */
  readonly sections?: readonly string[];
  /** The sections of the file to leave out, since another page shows them. */
  readonly without?: readonly string[];
}

export interface Page {
  /** The address of the page, without a leading slash and without a file ending. */
  readonly route: string;
  /** The title: the name of the page in the list of pages, and its heading if it is built from sections. */
  readonly title: string;
  /** One sentence about the page, for search engines and for `llms.txt`. */
  readonly about: string;
  readonly parts: readonly Part[];
}

export interface Chapter {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** Returns a page: its address, its title, a sentence about it, and its parts. */
export function page(
  [route, title, about]: readonly [route: string, title: string, about: string],
  ...parts: readonly Part[]
): Page {
  return { route, title, about, parts };
}

/** Returns a part of a page with a text that exists only on the site. */
export function own(name: string): Part {
  return { file: `packages/site/pages/${name}.md` };
}

export function readme(name: string): Part {
  return { file: `packages/${name}/README.md` };
}

/** Returns a part of a page that shows sections of the Markdown file `name` in the folder `packages`. */
export function sectionsOf(name: string, ...sections: readonly string[]): Part {
  return { file: `packages/${name}.md`, sections };
}
