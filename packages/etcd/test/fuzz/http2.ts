import { createServer, type AddressInfo, type Socket } from 'node:net';
import { checkOptions, type Transport } from '../../src/api/options.ts';
import { http2Driver } from '../../src/wire/http2-driver.ts';
import RECORDED from './http2.json' with { type: 'json' };
import { settles } from '@queuelock/harness/fuzz/settle';
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

const REQUEST_TIMEOUT_MS = 10;
const SETTLED_MS = 10_000;

/**
 * Returns the fuzz target for the bytes that etcd sends on an HTTP/2 connection, while a read, a heartbeat
 * and a watch wait for responses.
 */
export function open(): Promise<FuzzTarget> {
  return openOver('http2');
}

/** Returns a fuzz target as `open` does, for the bytes that etcd sends on an HTTP/2 connection. The client uses the given transport. */
export async function openOver(transport: Transport): Promise<FuzzTarget> {
  let input: Buffer = Buffer.alloc(0);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
    // Sends each input in two pieces. Some connections end after the second piece, depending on its last
    // byte.
    const middle = input.length >> 1;
    socket.write(input.subarray(0, middle));
    if ((input.at(-1) ?? 0) % 3 === 0) socket.end(input.subarray(middle));
    else socket.write(input.subarray(middle));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    corpus: RECORDED.map((text) => Buffer.from(text, 'hex')),
    batchSize: 50,
    run: async (next) => {
      input = next;
      await exchange(host, transport);
      for (const socket of sockets) socket.destroy();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function exchange(host: string, transport: Transport): Promise<void> {
  const driver = http2Driver(host, checkOptions({ hosts: host, transport }));
  const ignore = { onResponse: () => undefined, onEnd: () => undefined };
  const keepAlive = driver.keepAlive(ignore);
  keepAlive.write({ ID: '7' });
  const watch = driver.watch(ignore);
  try {
    const read = driver.range({}, { withinMs: REQUEST_TIMEOUT_MS }).catch(() => undefined);
    await settles('a read', read, SETTLED_MS);
  } finally {
    keepAlive.close();
    watch.close();
    driver.close();
  }
}
