import pg from 'pg';
import { createLockClient, type LockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
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

describe('a pool that misbehaves under postgres()', function () {
  this.timeout(600_000);
  const server = new OwnServer();
  const honest = (): LockClient => createLockClient(postgres({ url: server.url }), { ttlMs: TTL_MS });

  const unruly = (calls: UnrulyCalls): UnrulyClient => {
    const real = new pg.Pool({ connectionString: server.url, max: 40 });
    real.on('error', () => undefined);
    // A connection that the misbehaving connect() has withheld has no other listener.
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

  it('ends no process, and never lets two clients hold', async () => {
    await survivesEveryScript({ unruly, honest }, { seed: 1, numRuns: 15 });
  });

  it('proves no hold by replies without a server', async () => {
    expect(await holdsWithoutServer({ unruly, honest }, { rows: [{ answer: {} }] })).to.equal(false);
  });
});
