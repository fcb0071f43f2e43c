import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { until } from '@queuelock/harness/services/until';
import { Clients } from './clients.ts';

const WITHIN_MS = 30_000;
const OPTIONS = { ttlMs: 4_000, maxBlockedMs: 10_000 };
// Number of connections of a client without its heartbeat thread: one for steps and one for notifications.
const OF_CLIENT = 2;
const OF_THREAD = 1;

describe('the connection of the heartbeat thread', function () {
  this.timeout(2 * WITHIN_MS);
  const clients = new Clients();
  let locks: LockClient;
  const errors: string[] = [];
  let before: number;

  beforeEach(async () => {
    errors.length = 0;
    await connections(1);
    before = await count();
    locks = createLockClient(clients.connect(), OPTIONS);
    locks.errors$.subscribe(({ message }) => errors.push(message));
  });
  afterEach(() => locks.close());

  async function count(): Promise<number> {
    const list = String(await clients.operator.redis.client('LIST'));
    return list.trim().split('\n').length;
  }

  function connections(expected: number): Promise<void> {
    const hasThem = async (): Promise<void> => void expect(await count()).to.equal(expected);
    return until(hasThem, { what: `${expected} connections`, withinMs: WITHIN_MS });
  }

  it('is opened beside those of the main thread, and is closed with the client', async () => {
    const hold = await locks.acquire('jobs');
    await connections(before + OF_CLIENT + OF_THREAD);
    await hold.release();
    await locks.close();
    await connections(before);
    expect(errors).to.deep.equal([]);
  });

  it('does not stay open when the client is closed before the thread has started', async () => {
    await locks.acquire('jobs');
    await locks.close();
    await connections(before);
  });

  it('is opened again after the server has closed it', async () => {
    await locks.acquire('jobs');
    await connections(before + OF_CLIENT + OF_THREAD);
    await clients.operator.redis.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await connections(before + OF_CLIENT + OF_THREAD);
  });

  it('causes an error when the server refuses it, and is opened once the server accepts it', async () => {
    await clients.operator.redis.config('SET', 'maxclients', before + OF_CLIENT);
    try {
      const hold = await locks.acquire('jobs');
      const fails = async (): Promise<void> => void expect(errors).not.to.deep.equal([]);
      await until(fails, { what: 'a failure', withinMs: WITHIN_MS });
      expect(errors[0]).to.match(
        /the heartbeat thread \(option maxBlockedMs\) failed: .*heartbeats of the main thread continue/,
      );
      expect(hold.held).to.equal(true);
      await clients.operator.redis.config('SET', 'maxclients', 1_000);
      await connections(before + OF_CLIENT + OF_THREAD);
      await hold.release();
    } finally {
      await clients.operator.redis.config('SET', 'maxclients', 1_000);
    }
  });
});
