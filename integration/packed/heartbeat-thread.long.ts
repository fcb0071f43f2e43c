import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sharedConsul, sharedEtcd, sharedRedis } from '@queuelock/harness/services';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { NODE, RUNTIMES, type Runtime } from '../runtimes/runtimes.ts';
import { Installation, outputOf } from './installation.ts';

const TTL_MS = 5_000;

/** A program whose event loop is blocked for longer than the TTL while it holds a lock. */
function programFor(store: string): string {
  return `
  import { createLockClient } from '@queuelock/core';
  import { ${store} } from '@queuelock/${store}';
  async function main() {
    const options = { ttlMs: ${TTL_MS}, maxBlockedMs: 60_000 };
    const locks = createLockClient(${store}(JSON.parse(process.env.STORE)), options);
    const errors = [];
    locks.errors$.subscribe(({ message }) => errors.push(message));
    const hold = await locks.acquire(process.env.NAME);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const end = performance.now() + ${2 * TTL_MS};
    while (performance.now() < end);
    const { held } = hold;
    await hold.release().catch(() => undefined);
    await locks.close();
    return { held, errors };
  }
  main().then((outcome) => console.log(JSON.stringify(outcome)));
`;
}

/** A server, and the options of a backend for it. */
interface Server {
  readonly options: object;
  readonly stop?: () => Promise<unknown>;
}

const WHAT = 'heartbeat-thread';
const STORES: Readonly<Record<string, () => Promise<Server>>> = {
  etcd: async () => ({ options: { hosts: (await sharedEtcd(WHAT)).endpoint } }),
  redis: async () => ({ options: { url: `redis://${(await sharedRedis(WHAT)).endpoint}` } }),
  consul: async () => ({ options: { hosts: (await sharedConsul(WHAT)).endpoint, minTtlMs: 1_000 } }),
  postgres: async () => {
    const server = await startPostgres();
    return { options: { url: postgresUrl(server) }, stop: () => server.stop() };
  },
  mysql: async () => {
    const server = await startMariaDb();
    return { options: { url: `mysql://root@${server.endpoint}/test` }, stop: () => server.stop() };
  },
};

describe('the heartbeat thread of packed code', function () {
  this.timeout(180_000);
  let installation: Installation;

  before(async () => {
    installation = await Installation.of(['core', ...Object.keys(STORES)]);
  });
  after(() => installation.remove());

  async function outcomeOf(store: string, runtime: Runtime = NODE): Promise<unknown> {
    const { options, stop } = await STORES[store]!();
    try {
      const file = await installation.write(`${store}.mjs`, programFor(store));
      const env = { STORE: JSON.stringify(options), NAME: `installed-${runtime.name}` };
      return await outputOf(file, env, runtime);
    } finally {
      await stop?.();
    }
  }

  for (const store of Object.keys(STORES))
    it(`keeps a lock while the event loop is blocked for twice the TTL: ${store}`, async () => {
      expect(await outcomeOf(store)).to.deep.include({ held: true });
    });

  for (const runtime of RUNTIMES.filter((each) => each !== NODE))
    it(`keeps a lock while the event loop is blocked for twice the TTL on ${runtime.name}`, async () => {
      expect(await outcomeOf('redis', runtime)).to.deep.include({ held: true });
    });

  for (const format of ['esm', 'cjs'] as const)
    it(`is missing in a bundle of one file (${format}): an error is emitted, and the lock is lost`, async () => {
      const bundle = await installation.bundle(programFor('etcd'), { format });
      const { options } = await STORES['etcd']!();
      try {
        const env = { STORE: JSON.stringify(options), NAME: `bundled-${format}` };
        const { held, errors } = await outputOf(bundle, env);
        expect(held).to.equal(false);
        expect(String(errors)).to.match(
          /the heartbeat thread \(option maxBlockedMs\) failed: .*main thread continue/,
        );
      } finally {
        await rm(dirname(bundle), { recursive: true });
      }
    });
});
