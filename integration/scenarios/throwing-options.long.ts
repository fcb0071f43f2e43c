// The server is a test, and no package exports it.
// eslint-disable-next-line no-restricted-imports
import { OwnServer as PostgresServer } from '../../packages/postgres/test/servers.ts';
import { createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { consul } from '@queuelock/consul';
import { etcd } from '@queuelock/etcd';
import { sharedConsul, sharedEtcd, sharedRedis, sharedZooKeeper } from '@queuelock/harness/services';
import { catchingAll } from '@queuelock/harness/uncaught';
import { postgres } from '@queuelock/postgres';
import { redis } from '@queuelock/redis';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';

/**
 * An option that is a function of a queue's name, and a backend with this option. Each call of the option's
 * function calls `probe`.
 */
interface OptionOfQueue {
  readonly option: string;
  readonly connect: (probe: () => void) => Promise<Backend>;
}

const SUITE = 'options that throw';
const TTL_MS = 4_000;
/** Time limit of a grant in milliseconds. It is long enough for a busy machine. */
const GRANTED_WITHIN_MS = 15_000;
/**
 * Number of repetitions of the test. In the n-th repetition the option's function throws from its n-th call
 * on. An acquisition and its release call the function less often than this number.
 */
const MOST_CALLS = 12;

function optionsOf(postgresUrl: () => string): readonly OptionOfQueue[] {
  const returning = <T>(probe: () => void, value: (queue: string) => T): ((queue: string) => T) => {
    return (queue) => {
      probe();
      return value(queue);
    };
  };
  const single = (queue: string): string => `single-${queue}`;
  return [
    {
      option: 'singleKey of etcd',
      connect: async (probe) =>
        etcd({ hosts: (await sharedEtcd(SUITE)).endpoint, singleKey: returning(probe, single) }),
    },
    {
      option: 'naming of etcd',
      connect: async (probe) =>
        etcd({ hosts: (await sharedEtcd(SUITE)).endpoint, naming: returning(probe, () => 'fast' as const) }),
    },
    {
      option: 'naming of ZooKeeper',
      connect: async (probe) =>
        zookeeper({
          hosts: [(await sharedZooKeeper(SUITE)).endpoint],
          naming: returning(probe, () => 'fast' as const),
          ...{ tickTimeMs: 500, syncLimit: 2 },
        }),
    },
    {
      option: 'singleKey of Redis',
      connect: async (probe) =>
        redis({
          url: `redis://${(await sharedRedis(SUITE)).endpoint}`,
          singleKey: returning(probe, single),
        }),
    },
    {
      option: 'singleKey of Consul',
      connect: async (probe) =>
        consul({
          hosts: (await sharedConsul(SUITE)).endpoint,
          minTtlMs: 100,
          singleKey: returning(probe, single),
        }),
    },
    {
      option: 'advisoryKey of PostgreSQL',
      connect: async (probe) => postgres({ url: postgresUrl(), advisoryKey: returning(probe, () => 7) }),
    },
  ];
}

describe('an option that is a function and throws', function () {
  this.timeout(120_000);
  const server = new PostgresServer();

  for (const { option, connect } of optionsOf(() => server.url))
    it(`leaves no entry in the queue, whichever of its calls is the first to throw: ${option}`, async () => {
      const honest = createLockClient(await connect(() => undefined), { ttlMs: TTL_MS });
      const failure = new Error('of the caller');
      for (let nth = 1; nth <= MOST_CALLS; nth += 1) {
        let calls = 0;
        const backend = await connect(() => {
          calls += 1;
          if (calls >= nth) throw failure;
        });
        const locks = createLockClient(backend, { ttlMs: TTL_MS });
        const queue = `throws from call ${nth} on`;
        const uncaught = await catchingAll(() => lockOnce(locks, { queue, failure, nth }));
        expect(uncaught.join('\n'), `call ${nth}`).to.equal('');
        // Acquires the lock with another client, which shows that no entry was left. The session of the first
        // client still lives, so an entry of that client would block the lock for ever.
        expect(
          await honest.run(queue, () => 'done', { timeoutMs: GRANTED_WITHIN_MS }),
          `call ${nth}`,
        ).to.equal('done');
        await locks.close();
      }
      await honest.close();
    });
});

/**
 * Takes and releases two locks, one with `tryAcquire` and one with `run`. If a call rejects, checks that the
 * cause is the error of the throwing option.
 */
async function lockOnce(
  locks: LockClient,
  { queue, failure, nth }: { readonly queue: string; readonly failure: Error; readonly nth: number },
): Promise<void> {
  try {
    await locks.tryAcquire(`${queue}, beside`).then((hold) => hold?.release());
    await locks.run(queue, () => undefined);
  } catch (error) {
    expect([error, (error as Error).cause], `call ${nth}: ${String(error)}`).to.include(failure);
  }
}
