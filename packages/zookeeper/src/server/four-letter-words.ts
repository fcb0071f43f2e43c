import type { Tls } from '../api/tls.ts';
import { dial, type Place } from '../wire/dial.ts';

/** A four-letter command for operators, on the client port. `srvr` is always allowed, `conf` only if the server's whitelist contains it. */
export type FourLetterWord = 'srvr' | 'conf';

/**
 * Sends one command to one server. Resolves with the lines of the reply, which have the form `name: value` or `name=value`. Rejects when
 * the server does not respond within `withinMs`.
 */
export function sendFourLetterWord(
  server: Place & { readonly tls: Tls | undefined },
  word: FourLetterWord,
  withinMs: number,
): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const { socket, ready } = dial(server, server.tls);
    socket.setTimeout(withinMs, () => socket.destroy(new Error(`no reply within ${withinMs} ms`)));
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
