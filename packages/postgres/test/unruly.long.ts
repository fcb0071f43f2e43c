import { connect, type Socket } from 'node:net';
import pg from 'pg';
import postgresJs from 'postgres';
import { createLockClient, type LockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { catchingAll } from '@queuelock/harness/uncaught';
import type { UnrulyCalls } from '@queuelock/harness/unruly';
import { expect } from 'chai';
import {
  holdsWithoutServer,
  survivesEveryScript,
  type UnrulyClient,
} from '@queuelock/harness/unruly-contest';
import { OwnServer } from './servers.ts';

const METHODS = { query: 'async', on: 'sync', removeListener: 'sync', release: 'sync' } as const;
const TTL_MS = 1_500;

describe('a misbehaving pool that is passed to postgres()', function () {
  this.timeout(600_000);
  const server = new OwnServer();
  const honest = (): LockClient => createLockClient(postgres({ url: server.url }), { ttlMs: TTL_MS });

  const unruly = (calls: UnrulyCalls): UnrulyClient => {
    const real = new pg.Pool({ connectionString: server.url, max: 40 });
    real.on('error', () => undefined);
    // Adds a listener to each new connection of the real pool. If the misbehaving connect() does not pass a
    // connection on, it has no other listener. An error event without a listener would end the process.
    real.on('connect', (client) => client.on('error', () => undefined));
    const pool = calls.of(
      { options: real.options, connect: async () => calls.of(await real.connect(), METHODS) },
      { connect: 'async' },
    );
    return {
      locks: createLockClient(postgres({ pool, requestTimeoutMs: 200 }), {
        ttlMs: TTL_MS,
      }),
      end: () => Promise.resolve(),
    };
  };

  it('causes no uncaught exception, and never lets two clients hold at the same time', async () => {
    await survivesEveryScript({ unruly, honest }, { seed: 1, numRuns: 15 });
  });

  it('does not extend a hold by replies that the server has not sent', async () => {
    expect(await holdsWithoutServer({ unruly, honest }, { rows: [{ answer: {} }] })).to.equal(false);
  });
});

/** Returns a socket that is connected to the server. */
function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once('error', reject).once('connect', () => resolve(socket));
  });
}

const SOCKETS: Readonly<Record<string, (url: string) => unknown>> = {
  throws: () => {
    throw new TypeError('no socket');
  },
  rejects: () => Promise.reject(new TypeError('no socket')),
  'never settles': () => new Promise(() => undefined),
  'returns nothing': () => undefined,
  'returns something else': () => ({}),
  'returns a socket that was destroyed': async (url) => (await connected(url)).destroy(),
  'returns a socket that fails at once': async (url) => {
    const socket = await connected(url);
    setImmediate(() => socket.destroy(new TypeError('failed at once')));
    return socket;
  },
  'returns a socket that fails during a statement': async (url) => {
    const socket = await connected(url);
    socket.once('data', () => socket.destroy(new TypeError('failed during a statement')));
    return socket;
  },
};

describe('the option socket of a postgres.js client', function () {
  this.timeout(60_000);
  const server = new OwnServer();

  for (const [what, broken] of Object.entries(SOCKETS))
    it(`causes no uncaught exception when it ${what}`, async () => {
      const state = { isBroken: true };
      const socket = (): unknown => (state.isBroken ? broken(server.url) : connected(server.url));
      const client = postgresJs(server.url, { socket, onnotice: () => undefined } as object);
      const locks = createLockClient(postgres({ client, requestTimeoutMs: 300 }), { ttlMs: TTL_MS });
      const uncaught = await catchingAll(async () => {
        const failure: unknown = await locks
          .acquire('over it', { timeoutMs: 800 })
          .catch((error: unknown) => error);
        expect(failure)
          .to.have.property('code')
          .that.is.oneOf(['UNAVAILABLE', 'TIMEOUT', 'INVALID_ARGUMENT']);
        state.isBroken = false;
        expect(await locks.run('over it', () => 'done', { timeoutMs: 20_000 })).to.equal('done');
        await locks.close();
      });
      expect(uncaught.join('\n')).to.equal('');
    });
});
