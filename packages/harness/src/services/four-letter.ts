import { connect } from 'node:net';
import { routeTo, type Route } from './endpoint.ts';

/**
 * Commands that operators send to the port of a ZooKeeper server; see the administrator's guide, "The Four
 * Letter Words".
 */
export type FourLetterWord =
  | 'conf' | 'cons' | 'crst' | 'dirs' | 'dump' | 'envi' | 'isro' | 'mntr' | 'ruok'
  | 'srst' | 'srvr' | 'stat' | 'wchc' | 'wchp' | 'wchs'; // oxfmt-ignore

/** Sends a four-letter word and resolves with the complete response. Rejects when no data arrives for `withinMs`. */
export function zkFourLetter(
  endpoint: string | Route,
  word: FourLetterWord,
  withinMs = 5_000,
): Promise<string> {
  const route = routeTo(endpoint);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(route);
    socket.setTimeout(withinMs, () =>
      socket.destroy(new Error(`ZooKeeper on ${route.host}:${route.port} does not answer to ${word}`)),
    );
    socket.once('error', reject);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('close', (failed) => failed || resolve(Buffer.concat(chunks).toString()));
    socket.once('connect', () => socket.write(word));
  });
}
