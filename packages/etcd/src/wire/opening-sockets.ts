/**
 * grpc-js has no means to give up a connection that it is opening, also not when it is closed, and after a failure it opens another one
 * then. To a host that does not answer each keeps the process for as long as the system goes on trying, two minutes on Linux. Node
 * tells of every socket that is opened; which are those of grpc-js is known by the stack alone, and whose by where they lead to.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { isIP, type Socket } from 'node:net';

const OPENED = 'net.client.socket';
const BY_GRPC = /[\\/]@grpc[\\/]grpc-js[\\/]/;
// Where nobody answers for so long it is nothing to wait for; others of this process may be opening one to the same place.
const HOPELESS_MS = 300;
const LOOK_EVERY_MS = 100;
// Longer than grpc-js pauses after a failure.
const GIVES_UP_FOR_MS = 5_000;

interface Opening {
  readonly since: number;
  address?: string;
  port?: number;
}

const openings = new Map<Socket, Opening>();
let watchers = 0;

/** Watches what is opened by grpc-js; the answer gives up what is being opened to this host, from then on for some seconds. */
export function watchOpenings(host: string): () => void {
  if (watchers === 0) subscribe(OPENED, onOpened);
  watchers += 1;
  return () => {
    const looking = setInterval(() => giveUpHopeless(host), LOOK_EVERY_MS).unref();
    const stop = (): void => {
      clearInterval(looking);
      watchers -= 1;
      if (watchers === 0) unsubscribe(OPENED, onOpened);
    };
    setTimeout(stop, GIVES_UP_FOR_MS).unref();
  };
}

function onOpened(message: unknown): void {
  if (!BY_GRPC.test(String(new Error().stack))) return;
  const { socket } = message as { readonly socket: Socket };
  const opening: Opening = { since: performance.now() };
  openings.set(socket, opening);
  socket.on('connectionAttempt', (address: string, port: number) => {
    Object.assign(opening, { address, port });
  });
  const over = (): void => void openings.delete(socket);
  socket.once('connect', over);
  socket.once('close', over);
}

/** A name may stand for any address. */
function leadsTo(host: string, { address, port }: Opening): boolean {
  const { hostname, port: own } = new URL(`http://${host}`);
  const literal = hostname.replace(/^\[|\]$/g, '');
  return String(port) === (own || '80') && (isIP(literal) === 0 || literal === address);
}

function giveUpHopeless(host: string): void {
  const since = performance.now() - HOPELESS_MS;
  for (const [socket, opening] of openings)
    if (opening.since < since && leadsTo(host, opening)) socket.destroy();
}
