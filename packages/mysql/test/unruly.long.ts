import { createPool } from 'mysql2/promise';
import { createLockClient, type LockClient } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { UnrulyCalls } from '@queuelock/harness/unruly';
import { expect } from 'chai';
import {
  holdsWithoutServer,
  survivesEveryScript,
  type UnrulyClient,
} from '@queuelock/harness/unruly-contest';
import { OwnServer } from './servers.ts';

const METHODS = {
  query: 'async',
  on: 'sync',
  removeListener: 'sync',
  release: 'sync',
  destroy: 'sync',
} as const;
const TTL_MS = 1_500;

describe('a pool that misbehaves under mysql()', function () {
  this.timeout(600_000);
  const server = new OwnServer();
  const honest = (): LockClient => createLockClient(mysql({ url: server.url }), { ttlMs: TTL_MS });

  const unruly = (calls: UnrulyCalls): UnrulyClient => {
    const real = createPool({ uri: server.url, connectionLimit: 40 });
    const pool = calls.of(
      { pool: real.pool, getConnection: async () => calls.of(await real.getConnection(), METHODS) },
      { getConnection: 'async' },
    );
    return {
      locks: createLockClient(mysql({ pool, requestTimeoutMs: 200 }), {
        ttlMs: TTL_MS,
      }),
      end: () => Promise.resolve(),
    };
  };

  it('ends no process, and never lets two clients hold', async () => {
    await survivesEveryScript({ unruly, honest }, { seed: 1, numRuns: 15 });
  });

  it('reports a server that never replies to the check of its tables after the timeout of a request', async () => {
    // The calls before that take a connection, listen to it, and prove its replies.
    const silent = new UnrulyCalls(new Map(Array.from({ length: 50 }, (_, nth) => [nth + 4, 'stuck'])));
    const real = createPool({ uri: server.url, connectionLimit: 40 });
    const pool = silent.of(
      { pool: real.pool, getConnection: async () => silent.of(await real.getConnection(), METHODS) },
      { getConnection: 'async' },
    );
    const backend = mysql({ pool, requestTimeoutMs: 200 });
    const failure: unknown = await backend.open(TTL_MS).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    expect(Number(/within (\d+) ms/.exec(String(failure))?.[1])).to.be.at.most(200);
    await backend.close();
    await real.end();
  });

  it('proves no hold by replies without a server', async () => {
    expect(await holdsWithoutServer({ unruly, honest }, [[], []])).to.equal(false);
  });
});
