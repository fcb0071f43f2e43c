/**
 * The contents of the site: which files and sections form each page. The repository remains the only place
 * where a text is stored.
 */
import { LEARN } from './contents/learn.ts';
import type { Chapter, Page } from './contents/page.ts';
import { REFER } from './contents/refer.ts';

export const CHAPTERS: readonly Chapter[] = [...LEARN, ...REFER];

export const PAGES: readonly Page[] = CHAPTERS.flatMap(({ pages }) => pages);
