import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * An HTTP server for the files of a folder. Like a static host, it returns the `.html` page for an address
 * without a file ending.
 */
export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveFolder(folder: string): Promise<Served> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://host').pathname));
    const candidates = [path, `${path}.html`, join(path, 'index.html')].map((name) => join(folder, name));
    const file = candidates.find((name) => existsSync(name) && statSync(name).isFile());
    response.writeHead(file === undefined ? 404 : 200, {
      'content-type': TYPES[extname(file ?? '')] ?? 'text/plain',
    });
    response.end(file === undefined ? 'not found' : readFileSync(file));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
