// Compares hand-offs of several kinds of locks while other contenders wait, and prints a Markdown table. From the root of the repository: node
// --conditions=@queuelock/source --import ./.ci/tsx.mjs packages/redis/test/measure.ts [WAITERS] [HOLDS] [HOLD_MS] [TURNS]
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import { startRedis } from '@queuelock/harness/services';
import { mutex, redlock } from './peers.ts';

type Release = () => Promise<unknown>;

/** A contender for the lock, with connections of its own. */
interface Contender {
  acquire(): Promise<Release>;
  close(): Promise<unknown>;
}

interface Hold {
  readonly handOffMs: number;
  readonly waitedMs: number;
}

const [waiters = 10, holds = 200, holdMs = 5, turns = 5] = process.argv.slice(2).map(Number);
const server = await startRedis({ way: 'process' });
const [host = '', port = ''] = server.endpoint.split(':');

function connection(): Redis {
  return new Redis({ host, port: Number(port) });
}

function byRedlock(retryDelay?: number): () => Contender {
  return () => {
    const client = connection();
    const lock = redlock(client, { retryCount: -1, ...(retryDelay !== undefined && { retryDelay }) });
    return {
      acquire: async () => {
        const held = await lock.acquire(['redlock'], 10_000);
        return () => held.release();
      },
      close: () => client.quit(),
    };
  };
}

const KINDS: Readonly<Record<string, () => Contender>> = {
  queuelock: () => {
    const locks = createLockClient(redis({ url: `redis://${server.endpoint}` }));
    return {
      acquire: async () => {
        const ownership = await locks.acquire('queuelock');
        return () => ownership.release();
      },
      close: () => locks.close(),
    };
  },
  'redis-semaphore `Mutex`, tries every 10 ms': () => {
    const client = connection();
    const lock = mutex(client, 'mutex');
    return {
      acquire: async () => {
        await lock.acquire();
        return () => lock.release();
      },
      close: () => client.quit(),
    };
  },
  'redlock, tries every 200 ms or so (its default)': byRedlock(),
  'redlock, tries every 10 ms or so': byRedlock(10),
};

/**
 * Measures hand-offs while the number of waiters stays the same: whenever one contender has released the
 * lock, another one requests it.
 */
async function contend(contenders: readonly Contender[]): Promise<readonly Hold[]> {
  const seen: Hold[] = [];
  const resting = [...contenders];
  let left = holds;
  let releasedAt = Number.NaN;
  const work = async (contender: Contender): Promise<void> => {
    const requestedAt = performance.now();
    const release = await contender.acquire();
    const now = performance.now();
    if (!Number.isNaN(releasedAt)) seen.push({ handOffMs: now - releasedAt, waitedMs: now - requestedAt });
    // The next contender requests the lock while it is held. If it did so only at the moment of a release, a
    // lock without a queue could grant it before older waiters.
    const more = next();
    await pause(holdMs);
    releasedAt = performance.now();
    await release();
    resting.push(contender);
    await more;
  };
  const next = async (): Promise<void> => {
    const contender = left > 0 ? resting.shift() : undefined;
    left -= 1;
    if (contender) await work(contender);
  };
  await Promise.all(Array.from({ length: waiters + 1 }, next));
  return seen;
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(2);
}

interface Crew {
  readonly kind: string;
  readonly contenders: readonly Contender[];
  readonly all: Hold[];
  tookMs: number;
}

const crews = Object.entries(KINDS).map(([kind, make]): Crew => ({
  kind,
  contenders: Array.from({ length: 2 * waiters + 2 }, make),
  all: [],
  tookMs: 0,
}));
for (let turn = 0; turn <= turns; turn += 1) {
  for (const crew of crews) {
    const begunAt = performance.now();
    const seen = await contend(crew.contenders);
    // Each kind of lock is measured several times. The first measurement is a warm-up, in which Node compiles
    // the code. It does not count.
    if (turn === 0) continue;
    crew.all.push(...seen);
    crew.tookMs += performance.now() - begunAt;
  }
}
console.log(
  `${waiters} in line, ${turns} turns of ${holds} holds of ${holdMs} ms each, one kind after the other\n`,
);
console.log('| lock | holds/s | hand-off p50 | p99 | longest wait |');
console.log('| --- | --- | --- | --- | --- |');
for (const { kind, contenders, all, tookMs } of crews) {
  const between = all.map(({ handOffMs }) => handOffMs);
  const perSecond = ((turns * holds * 1_000) / tookMs).toFixed(0);
  const longest = Math.max(...all.map(({ waitedMs }) => waitedMs)).toFixed(0);
  console.log(
    `| ${kind} | ${perSecond} | ${percentile(between, 0.5)} ms | ${percentile(between, 0.99)} ms | ${longest} ms |`,
  );
  await Promise.all(contenders.map((contender) => contender.close()));
}
await server.stop();
