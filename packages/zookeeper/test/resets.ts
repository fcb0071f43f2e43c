import { once } from 'node:events';
import { createServer, connect as connectSocket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually, outcome, type Bench, type Driver } from './bench.ts';
import { proxyTo } from './own-server.ts';

const { signal } = new AbortController();

/**
 * Breaks the connections of six sessions while they send requests. After each time, checks that other sockets
 * of the process work.
 */
export async function resetConnections(
  bench: Bench,
  endpoint: string,
  { rounds, driver }: { readonly rounds: number; readonly driver: Driver },
): Promise<void> {
  const proxy = await proxyTo(bench, endpoint);
  const sessions = await Promise.all(
    Array.from({ length: 6 }, () => bench.session(proxy.endpoint, 10_000, driver)),
  );
  const echo = bench.keep(
    createServer((socket) => socket.pipe(socket)),
    (listener) => listener.close(),
  );
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const { port } = echo.address() as { port: number };
  for (let round = 0; round < rounds; round += 1) {
    proxy.cut();
    // Right after the cut, the kernel knows that the connections are reset, but the event loop does not.
    const calls = sessions.map((session) => outcome(session.renew(signal)));
    expect(await echoed(port)).to.equal('hello');
    await nextTurn();
    expect(await echoed(port)).to.equal('hello');
    await Promise.all(calls);
    await Promise.all(
      sessions.map((session) => eventually(async () => (await outcome(session.renew(signal))) === 'fine')),
    );
  }
}

async function echoed(port: number): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1');
  socket.setTimeout(5_000, () => socket.destroy(new Error('a socket of the process is deaf')));
  socket.end('hello');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}
