/** The contents of the site: which text stands at which address. Texts have one place, so most pages are made of files of the repository. */
import { LEARN } from './contents/learn.ts';
import type { Chapter, Page } from './contents/page.ts';
import { REFER } from './contents/refer.ts';

export const CHAPTERS: readonly Chapter[] = [...LEARN, ...REFER];

export const PAGES: readonly Page[] = CHAPTERS.flatMap(({ pages }) => pages);
