import { AsyncLocalStorage } from 'node:async_hooks';
import { queryObjects } from 'node:v8';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { createLockClient, type LockClient } from '../src/index.ts';
import { HeldOwnership } from '../src/hold/ownership.ts';

const ROUNDS = 50;
// Maximum number of additional ownerships that may exist after garbage collection. It is not 0, because the
// test itself still references the ownerships of its last holds.
const IN_USE = 4;

/** Returns the number of ownership objects that exist after garbage collection. */
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

  /** Starts a timer that runs as long as the test, and keeps a reference to the call chain that starts it. */
  function goOn(): void {
    timers.push(setInterval(() => undefined, 1_000_000));
  }

  it('keeps no reference to earlier holds when the work of each hold starts the next hold by a timer', async () => {
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

  it('keeps no reference to earlier holds when each hold ends after the next hold, of another name, has begun', async () => {
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

  it('keeps no reference to its hold in tasks that the work started and did not await', async () => {
    const before = ownerships();
    for (let round = 0; round < ROUNDS; round++) await client.run('x', goOn);
    expect(ownerships() - before).to.be.at.most(IN_USE);
  });

  it('still contains the outer hold in a task that continues after an inner hold has ended', async () => {
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

  it("finds its own hold while other chains begin and end, and does not change the caller's context", async () => {
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

  it('disables the promise hooks of AsyncLocalStorage once no work runs (Node below 24)', async () => {
    const used = new Set<object>();
    // oxlint-disable-next-line typescript/unbound-method -- it is called by Reflect.apply
    const { run } = AsyncLocalStorage.prototype;
    AsyncLocalStorage.prototype.run = function recorded(this: object, ...args: unknown[]) {
      used.add(this);
      return Reflect.apply(run, this, args) as never;
    };
    try {
      // From Node 24 on, an `AsyncLocalStorage` has no property `enabled`, because it uses no hooks for
      // promises.
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
