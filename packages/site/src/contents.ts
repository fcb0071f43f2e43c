/**
 * The contents of the site: which files and sections form each page. Each text is stored once, so most pages
 * are built from files of the repository.
 */
import { LEARN } from './contents/learn.ts';
import type { Chapter, Page } from './contents/page.ts';
import { REFER } from './contents/refer.ts';

export const CHAPTERS: readonly Chapter[] = [...LEARN, ...REFER];

export const PAGES: readonly Page[] = CHAPTERS.flatMap(({ pages }) => pages);
