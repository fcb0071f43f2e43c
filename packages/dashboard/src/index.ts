// What serves the page, for instance `queuelock ui`, needs to know where its files are, and nothing else.
import { fileURLToPath } from 'node:url';

/**
 * The folder with the page's files: `index.html`, and in `assets` what it loads, under names that change with their contents.
 * Whoever serves it mounts `@queuelock/bridge` at `/queuelock` of the same origin. The page loads nothing from elsewhere, and works
 * under the content security policy `default-src 'self'`.
 */
export const pageFolder: string = fileURLToPath(new URL('../dist/page/', import.meta.url));
