import { isQueueLockError } from '@queuelock/core/backend';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { startZooKeeper, zkFourLetter } from '@queuelock/harness/services';
import type { ZooKeeperSettings } from '@queuelock/harness/services/zookeeper-process';
import type { ServiceOf } from '@queuelock/harness/services/service';
import { Bench, eventually, newQueue, outcome, newSpec } from './bench.ts';

const FOR_A_SINGLE_SERVER = '(syncLimit 2 for a single server, which has no followers)';
const { signal } = new AbortController();

describe('the minimum TTL of a ZooKeeper session', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  for (const [what, ticks, min, usual] of [
    ['the default settings of the servers', {}, 14_000, 15_000],
    ['servers with a longer sync limit', { syncLimit: 10 }, 24_000, 24_000],
    ['servers with a short tick', { tickTimeMs: 500 }, 3_500, 15_000],
    ['a single server', { syncLimit: 2 }, 8_000, 15_000],
    ['a sync limit of one tick', { tickTimeMs: 1_000, syncLimit: 1 }, 4_000, 15_000],
  ] as const) {
    it(`is ${min} ms, and the default TTL ${usual} ms, for ${what}`, () => {
      const { minTtlMs, defaultTtlMs } = zookeeper({ hosts: ['h'], ...ticks }).info;
      expect({ minTtlMs, defaultTtlMs }).to.deep.equal({ minTtlMs: min, defaultTtlMs: usual });
    });
  }

  it('is explained in minTtlRule with the settings that determine it', () => {
    expect(zookeeper({ hosts: ['h'] }).info.minTtlRule).to.equal(
      '(syncLimit 5 + 2) x tickTime 2000 ms; set tickTimeMs and syncLimit of the backend to the values of the servers ' +
        FOR_A_SINGLE_SERVER,
    );
    expect(zookeeper({ hosts: ['h'], tickTimeMs: 500, syncLimit: 1 }).info.minTtlRule).to.match(
      /^4 x tickTime 500 ms; set tickTimeMs/,
    );
  });

  for (const ttlMs of [13_999, 0, -1, Number.NaN, Infinity]) {
    it(`is checked before connecting: a TTL of ${ttlMs} ms is refused`, async () => {
      const backend = bench.keep(zookeeper({ hosts: ['no-such-host.invalid'] }), (made) => made.close());
      expect(await refusal(backend.open(ttlMs, signal))).to.equal(
        '[INVALID_ARGUMENT] ttlMs is a number of milliseconds from 14000 to 2147483647 on zookeeper: ' +
          '(syncLimit 5 + 2) x tickTime 2000 ms; set tickTimeMs and syncLimit of the backend to the values of the servers ' +
          `${FOR_A_SINGLE_SERVER}; got ${ttlMs}`,
      );
    });
  }

  it('is checked after connecting: a shorter TTL that the server grants is refused, and no session remains', async () => {
    const server = await started({ maxSessionTimeout: 3_000 });
    const backend = bench.backend(server.endpoint, { syncLimit: 5 });
    const before = await sessions(server.endpoint);
    expect(await refusal(backend.open(4_000, signal))).to.equal(
      `[INVALID_ARGUMENT] ttlMs 4000 is more than the server at zk://${server.endpoint} allows: it grants 3000 ms ` +
        '(its maxSessionTimeout, by default 20 of its ticks), and at least 3500 ms are needed: (syncLimit 5 + 2) x tickTime ' +
        `500 ms; set tickTimeMs and syncLimit of the backend to the values of the servers ${FOR_A_SINGLE_SERVER}, or raise ` +
        'maxSessionTimeout of the servers; got 3000',
    );
    // When `open` rejects, the client has already sent the request to end the session. A busy server ends the
    // session a little later, so the test polls.
    await eventually(async () => (await sessions(server.endpoint)).length === before.length);
  });

  it('lets the server grant another TTL than requested if it is not below the minimum', async () => {
    const server = await started({ minSessionTimeout: 3_000, maxSessionTimeout: 5_000 });
    const backend = bench.backend(server.endpoint);
    expect((await backend.open(2_000, signal)).ttlMs).to.equal(3_000);
    expect((await backend.open(4_321, signal)).ttlMs).to.equal(4_321);
    expect((await backend.open(15_000, signal)).ttlMs).to.equal(5_000);
  });

  it('applies after a reconnect: a session is lost if the server then grants a shorter TTL', async () => {
    const settings = { maxSessionTimeout: 10_000 };
    const server = await started(settings);
    const session = await bench.session(server.endpoint, 8_000);
    const spec = newSpec(newQueue());
    await session.enqueue(spec);
    expect(await session.renew(signal)).to.be.greaterThan(0);
    settings.maxSessionTimeout = 6_000;
    await server.restart();
    const ends: string[] = [];
    await eventually(async () => {
      ends.push(await outcome(session.renew(AbortSignal.timeout(1_000))));
      return ends.at(-1) === 'SESSION_LOST';
    });
    expect(ends).to.not.include('fine');
    await eventually(async () => !(await sessions(server.endpoint)).includes(session.id));
  });

  async function started(settings: ZooKeeperSettings): Promise<ServiceOf['process']> {
    return bench.keep(await startZooKeeper({ way: 'process', settings }), (server) => server.stop());
  }
});

/** Returns the ids of all sessions on the server, as the server writes them. */
async function sessions(endpoint: string): Promise<string[]> {
  const dump = await zkFourLetter(endpoint, 'dump');
  return [...dump.matchAll(/0x([0-9a-f]+)$/gm)].map(([, id]) => id!).sort();
}

async function refusal(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  );
  if (isQueueLockError(error, 'INVALID_ARGUMENT')) return error.message;
  throw error;
}
