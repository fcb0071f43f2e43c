import { createMemoryServer, memory, virtualClock, type MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import { throwError } from 'rxjs';
import { QueueLockError, backoffDelay, withJitter } from '../src/backend.ts';
import { createLockClient } from '../src/index.ts';
import { onStage } from './stage.ts';

const TTL_MS = 8_000;
const PACE_MS = TTL_MS / 4;
const CLIENTS = 20;

describe('a backoff with jitter', () => {
  it('shortens a delay by up to a fifth, and never extends it', () => {
    expect(withJitter(100, { random: () => 0 })).to.equal(100);
    expect(withJitter(100, { random: () => 0.5 })).to.equal(90);
    for (let round = 0; round < 1_000; round++) expect(withJitter(100)).to.be.within(80, 100);
  });

  it('lets delays grow up to the maximum', () => {
    const growth = { initialDelayMs: 500, maxDelayMs: 5_000 };
    const pauses = [0, 1, 2, 3, 4, 5_000].map((failure) =>
      backoffDelay(failure, growth, { random: () => 0 }),
    );
    expect(pauses).to.deep.equal([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it('spreads out the heartbeats of clients that began at the same moment, and delays no heartbeat', async () => {
    const clock = virtualClock();
    const server = createMemoryServer({ clock });
    const heartbeats: number[][] = [];
    const clients = Array.from({ length: CLIENTS }, (_, at) => {
      const own: number[] = [];
      heartbeats.push(own);
      const intercept = <T>(call: MemoryCall, proceed: () => Promise<T>): Promise<T> => {
        if (call === 'renew') own.push(clock.now());
        return proceed();
      };
      return createLockClient(memory({ server, intercept }), {
        ttlMs: TTL_MS,
        clock: { ...clock, random: chance(at) },
      });
    });
    for (const [at, client] of clients.entries()) client.claim(String(at)).subscribe();
    await clock.advance(10 * PACE_MS);
    for (const own of heartbeats) {
      const pauses = own.map((now, at) => now - (own[at - 1] ?? 0));
      expect(Math.min(...pauses)).to.be.at.least(0.8 * PACE_MS);
      expect(Math.max(...pauses)).to.be.at.most(PACE_MS);
    }
    const tenth = heartbeats.map((own) => Math.round(own[9] ?? 0));
    expect(new Set(tenth).size, 'moments of the tenth beat').to.be.above(CLIENTS / 2);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('limits how often an observer retries while its reads are refused, until a read succeeds', () =>
    onStage(async (stage) => {
      let reads = 0;
      let isRefused = true;
      const client = stage.client({
        spoil: (backend) => ({
          ...backend,
          observe: (queue) => {
            reads++;
            return isRefused
              ? throwError(() => new QueueLockError('ACCESS_DENIED', 'not yours'))
              : backend.observe(queue);
          },
        }),
      });
      const statuses: string[] = [];
      const watch = client.watch('x').subscribe(({ status }) => statuses.push(status));
      await stage.clock.advance(60_000);
      expect(reads).to.be.within(10, 20);
      isRefused = false;
      await stage.until('the view is live', () => statuses.at(-1) === 'live');
      watch.unsubscribe();
    }));
});

/** Returns a source of random numbers that are the same in every run. */
function chance(seed: number): () => number {
  let latest = seed + 1;
  return () => (latest = (latest * 16_807) % 2_147_483_647) / 2_147_483_647;
}
