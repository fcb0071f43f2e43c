/** A text of the repository, or some of its sections. */
export interface Part {
  /** From the root of the repository. */
  readonly file: string;
  /** Headings of the second level, in this order; without them the whole file. */
  readonly sections?: readonly string[];
  /** Headings of the second level that are left out, since another page has them. */
  readonly without?: readonly string[];
}

export interface Page {
  /** The address, without a slash in front and without an ending. */
  readonly route: string;
  /** In the list of pages, and the heading of a page that is made of sections. */
  readonly title: string;
  /** One sentence for search engines and for `llms.txt`. */
  readonly about: string;
  readonly parts: readonly Part[];
}

export interface Chapter {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** Makes a page: its address, its title, and what it is about. */
export function page(
  [route, title, about]: readonly [route: string, title: string, about: string],
  ...parts: readonly Part[]
): Page {
  return { route, title, about, parts };
}

/** A text that is written for the site alone. */
export function own(name: string): Part {
  return { file: `packages/site/pages/${name}.md` };
}

export function readme(name: string): Part {
  return { file: `packages/${name}/README.md` };
}

/** Sections of a page beside the packages. */
export function sectionsOf(name: string, ...sections: readonly string[]): Part {
  return { file: `packages/${name}.md`, sections };
}
