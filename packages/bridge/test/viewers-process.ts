// Watches a queue through many connections, as many pages do. When all connections have received a new
// holder, the process reports that holder to its parent.
import { request, type IncomingMessage } from 'node:http';

const [url = '', count = '0'] = process.argv.slice(2);
const seen = new Map<string, number>();

/** Reads the stream of one simulated page, and reports each holder that the page receives, once. */
function read(response: IncomingMessage): void {
  let holder = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    for (const [, owner = ''] of text.matchAll(/"owner":"(n\d+)"/g)) {
      if (owner === holder) continue;
      holder = owner;
      const viewers = (seen.get(owner) ?? 0) + 1;
      seen.set(owner, viewers);
      if (viewers === Number(count)) process.send?.(owner);
    }
  });
}

for (let viewer = 0; viewer < Number(count); viewer += 1) request(url, read).end();
process.on('disconnect', () => process.exit());
