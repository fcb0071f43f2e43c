import { AsyncLocalStorage } from 'node:async_hooks';
import { queryObjects } from 'node:v8';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { createLockClient, type LockClient } from '../src/index.ts';
import { HeldOwnership } from '../src/hold/ownership.ts';

const ROUNDS = 50;
// Number of ownerships that may be left after garbage collection, because the test itself still references the last holds.
const IN_USE = 4;

/** Counts ownerships after garbage collection. */
function ownerships(): number {
  return queryObjects(HeldOwnership, { format: 'count' });
}

describe('a call chain', () => {
  let client: LockClient;
  let timers: NodeJS.Timeout[];

  beforeEach(() => {
    client = createLockClient(memory());
    timers = [];
  });
  afterEach(async () => {
    timers.forEach(clearInterval);
    await client.close();
  });

  /** Starts a timer that lasts as long as the test, and with it the call chain that starts it. */
  function goOn(): void {
    timers.push(setInterval(() => undefined, 1_000_000));
  }

  it('forgets the holds of earlier rounds when each round starts the next one', async () => {
    const before = ownerships();
    await new Promise<void>((resolve, reject) => {
      let rounds = 0;
      const tick = (): void => {
        client.run('x', next).catch(reject);
      };
      const next = (): void => {
        rounds += 1;
        if (rounds < ROUNDS) {
          setTimeout(tick);
          return;
        }
        goOn();
        resolve();
      };
      tick();
    });
    expect(ownerships() - before).to.be.at.most(IN_USE);
  });

  it('forgets the holds of earlier rounds when each round starts the next one under another name and ends after that start', async () => {
    const before = ownerships();
    await new Promise<void>((resolve, reject) => {
      const begin = (round: number, ended: () => void): void => {
        const work = async (): Promise<void> => {
          ended();
          if (round === ROUNDS) {
            goOn();
            resolve();
            return;
          }
          await new Promise<void>((nextHasBegun) => {
            begin(round + 1, nextHasBegun);
          });
        };
        client.run(String(round), work).catch(reject);
      };
      begin(1, () => undefined);
    });
    expect(ownerships() - before).to.be.at.most(IN_USE);
  });

  it('keeps no hold in tasks that its work has started and left running', async () => {
    const before = ownerships();
    for (let round = 0; round < ROUNDS; round++) await client.run('x', goOn);
    expect(ownerships() - before).to.be.at.most(IN_USE);
  });

  it('still has the outer hold in tasks that outlive an inner hold', async () => {
    await client.run('outer', async () => {
      const later = await client.run('inner', () => ({
        error: new Promise<void>((resolve) => void setTimeout(resolve)).then(() =>
          client.run('outer', () => undefined).catch((error: unknown) => error),
        ),
      }));
      await client.run('inner', () => undefined);
      expect(await later.error).to.include({ code: 'REENTRANT' });
    });
  });

  it('finds its hold, and leaves the context of its caller alone, while other chains begin and end', async () => {
    const tenant = new AsyncLocalStorage<number>();
    const chain = async (number: number): Promise<unknown> => {
      const name = String(number);
      for (let round = 0; round < 5; round++) {
        for (let pause = 0; pause < (number * round) % 4; pause++) await new Promise(setImmediate);
        const inner = await client.run(name, async () => {
          for (let pause = 0; pause < number % 3; pause++) await new Promise(setImmediate);
          return client
            .run(name, () => 'no error')
            .catch((error: unknown) => (error as { code: string }).code);
        });
        expect(inner).to.equal('REENTRANT');
        expect(tenant.getStore()).to.equal(number);
      }
      return client.run(name, () => 'no chain any more');
    };
    const chains = Array.from({ length: 50 }, (_, number) => tenant.run(number, () => chain(number)));
    expect(new Set(await Promise.all(chains))).to.deep.equal(new Set(['no chain any more']));
  });

  it('lets no promise of the process call a hook once no work runs', async () => {
    const used = new Set<object>();
    // oxlint-disable-next-line typescript/unbound-method -- it is called by Reflect.apply
    const { run } = AsyncLocalStorage.prototype;
    AsyncLocalStorage.prototype.run = function recorded(this: object, ...args: unknown[]) {
      used.add(this);
      return Reflect.apply(run, this, args) as never;
    };
    try {
      // From Node 24 on, an `AsyncLocalStorage` has no such property, because it uses no hooks.
      const areEnabled = (): unknown[] =>
        [...used].map((storage) => (Reflect.get(storage, 'enabled') as unknown) ?? false);
      await client.run('x', () => client.run('y', () => undefined));
      expect(areEnabled()).to.deep.equal([false]);
      await client.run('x', async () => {
        await client.run('y', () => undefined);
        expect(areEnabled()).to.deep.equal([Number.parseInt(process.versions.node) < 24]);
      });
    } finally {
      AsyncLocalStorage.prototype.run = run;
    }
  });
});
