import type { Tls } from '../api/tls.ts';
import { dial, type Place } from '../wire/dial.ts';

/** What a server says to operators on its own port: `srvr` to everybody, `conf` where it is on the list of the server. */
export type ServerWord = 'srvr' | 'conf';

/** Asks one server for one word; answers with its lines `name: value` or `name=value`. Rejects when it is silent for `withinMs`. */
export function ask(
  server: Place & { readonly tls: Tls | undefined },
  word: ServerWord,
  withinMs: number,
): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const { socket, ready } = dial(server, server.tls);
    socket.setTimeout(withinMs, () => socket.destroy(new Error(`no answer within ${withinMs} ms`)));
    socket.once('error', reject);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('close', (failed) => failed || resolve(linesOf(Buffer.concat(chunks).toString())));
    socket.once(ready, () => socket.write(word));
  });
}

function linesOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.split('\n').map((line) => /^([^:=]+)\s*[:=]\s*(.*)$/.exec(line.trim()));
  return new Map(pairs.flatMap((pair) => (pair?.[1] !== undefined ? [[pair[1].trim(), pair[2] ?? '']] : [])));
}
