// This module exports only the path of the dashboard page's files. A server of the page, such as
// `queuelock ui`, needs no more.
import { fileURLToPath } from 'node:url';

/**
 * Path of the folder with the page's files: `index.html`, and the assets that it loads, whose names change with their content.
 * The server must mount `@queuelock/bridge` at `/queuelock` of the same origin. The page loads nothing from other origins, and
 * works under the content security policy `default-src 'self'`.
 */
export const pageFolder: string = fileURLToPath(new URL('../dist/page/', import.meta.url));
