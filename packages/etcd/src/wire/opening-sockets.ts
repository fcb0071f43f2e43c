/**
 * Destroys connections that grpc-js is opening to a host that does not respond. grpc-js itself cannot do that, even when it is closed, and opens
 * another connection after each failure. Each such connection keeps the process alive until the operating system gives up, on Linux after two
 * minutes. Node publishes every new socket on a diagnostics channel. The call stack shows whether grpc-js has opened a socket, and the address shows
 * for which host.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { isIP, type Socket } from 'node:net';

const OPENED = 'net.client.socket';
const BY_GRPC = /[\\/]@grpc[\\/]grpc-js[\\/]/;
// A connection may be destroyed after this time without a response, in milliseconds. A younger one may belong
// to another client of this process.
const HOPELESS_MS = 300;
const CHECK_EVERY_MS = 100;
// Milliseconds for which new connections are still destroyed after the driver was closed. It is longer than the
// backoff of grpc-js.
const CHECK_FOR_MS = 5_000;

interface Opening {
  readonly since: number;
  address?: string;
  port?: number;
}

const openings = new Map<Socket, Opening>();
let watchers = 0;

/** Tracks the connections that grpc-js opens. Returns a function that destroys the connections to the given host, now and during the next 5 s. */
export function watchOpenings(host: string): () => void {
  if (watchers === 0) subscribe(OPENED, onOpened);
  watchers += 1;
  return () => {
    const checks = setInterval(() => destroyHopeless(host), CHECK_EVERY_MS).unref();
    const stop = (): void => {
      clearInterval(checks);
      watchers -= 1;
      if (watchers === 0) unsubscribe(OPENED, onOpened);
    };
    setTimeout(stop, CHECK_FOR_MS).unref();
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

/** Returns whether the connection may be one to the given host. A host name may resolve to any address. */
function leadsTo(host: string, { address, port }: Opening): boolean {
  const { hostname, port: own } = new URL(`http://${host}`);
  const literal = hostname.replace(/^\[|\]$/g, '');
  return String(port) === (own || '80') && (isIP(literal) === 0 || literal === address);
}

function destroyHopeless(host: string): void {
  const since = performance.now() - HOPELESS_MS;
  for (const [socket, opening] of openings)
    if (opening.since < since && leadsTo(host, opening)) socket.destroy();
}
