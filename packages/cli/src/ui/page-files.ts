import { readFile, readdir } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Headers with which the page runs only its own scripts and styles, connects only to its own origin, and
 * cannot be framed.
 */
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/**
 * The files of the page, read once at the start. A request can only name one of these, so it cannot read
 * other files.
 */
export class PageFiles {
  readonly #files: ReadonlyMap<string, PageFile>;

  private constructor(files: ReadonlyMap<string, PageFile>) {
    this.#files = files;
  }

  /** Reads the files of the page. Rejects with advice to reinstall or build when the files are missing. */
  static async in(folder: string): Promise<PageFiles> {
    const names = await readdir(folder, { recursive: true }).catch(() => [] as string[]);
    const known = names.filter((name) => extname(name) in TYPES);
    if (!known.includes('index.html'))
      throw new Failure(
        'the files of the page are missing, reinstall the package (in the repository: pnpm build)',
        {
          exitCode: EXIT.failure,
        },
      );
    const files = known.map(async (name): Promise<[string, PageFile]> => {
      const bytes = new Uint8Array(await readFile(join(folder, name)));
      return [`/${name.split(sep).join('/')}`, { bytes, type: TYPES[extname(name)] ?? '' }];
    });
    return new PageFiles(new Map(await Promise.all(files)));
  }

  answer({ method, url }: Request): Response {
    const { pathname } = new URL(url);
    const file = this.#files.get(pathname === '/' ? '/index.html' : pathname);
    if (!file || (method !== 'GET' && method !== 'HEAD'))
      return new Response('not found\n', { status: 404, headers: SECURITY });
    // Browsers may cache assets for ever, because the name of an asset changes with its content.
    const caching = pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    const headers = { ...SECURITY, 'content-type': file.type, 'cache-control': caching };
    return new Response(method === 'HEAD' ? null : file.bytes, { headers });
  }
}
