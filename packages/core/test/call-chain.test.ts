import { queryObjects } from 'node:v8';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { createLockClient, type LockClient } from '../src/index.ts';
import { HeldOwnership } from '../src/hold/ownership.ts';

const ROUNDS = 50;
// The test itself still references the last holds.
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
});
