import { expect } from 'chai';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { medianOf } from '../../../integration/median.ts';
import { Clients } from './clients.ts';

const TTL_MS = 600_000;
const ROUNDS = 40;
const HOLD_MS = 5;

describe('a crowd on MySQL', () => {
  const clients = new Clients();
  const locks: LockClient[] = [];

  afterEach(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
  });

  function lockClient(): LockClient {
    const client = createLockClient(mysql({ url: clients.url }), { ttlMs: TTL_MS });
    locks.push(client);
    return client;
  }

  /** The median of some hand-offs at the front of so long a line of one process, in milliseconds. */
  async function handOff(depth: number): Promise<number> {
    const client = lockClient();
    const queue = `line of ${depth}`;
    let ownership = await client.acquire(queue);
    const controller = new AbortController();
    const granted: ((held: Ownership) => void)[] = [];
    const claims = Array.from({ length: depth }, async () => {
      const held = await client.acquire(queue, { signal: controller.signal });
      granted.shift()?.(held);
    });
    for (const claim of claims) claim.catch(() => undefined);
    await clients.until(`select count(*) from queuelock_entry where queue = '${queue}'`, depth + 1);
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const next = new Promise<Ownership>((resolve) => granted.push(resolve));
      const beganAt = performance.now();
      await ownership.release();
      ownership = await next;
      took.push(performance.now() - beganAt);
    }
    controller.abort();
    await ownership.release();
    await client.close();
    return medianOf(took);
  }

  it('costs a hand-off the same with 100 and with 1,000 in line', async () => {
    await handOff(50);
    const [short, long] = [await handOff(100), await handOff(1_000)];
    process.stdout.write(`      100 in line: ${short.toFixed(2)} ms; 1,000 in line: ${long.toFixed(2)} ms\n`);
    expect(long).to.be.below(2 * short + 5);
  }).timeout(300_000);

  it('of ten, each on connections of its own, is served in order, and how long a hand-off takes is told', async () => {
    const crowd = Array.from({ length: 10 }, lockClient);
    for (const client of crowd) await client.run('first', async () => undefined);
    const took: number[] = [];
    const tokens: bigint[] = [];
    let leftAt = NaN;
    let holders = 0;
    const work = async (client: LockClient): Promise<void> => {
      for (let turn = 0; turn < ROUNDS / 2; turn += 1) {
        await client.run('handed', async ({ token }) => {
          if (!Number.isNaN(leftAt)) took.push(performance.now() - leftAt);
          expect((holders += 1)).to.equal(1);
          tokens.push(token);
          await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
          holders -= 1;
          leftAt = performance.now();
        });
      }
    };
    await Promise.all(crowd.map(work));
    expect(tokens).to.deep.equal(tokens.toSorted((one, other) => Number(one - other)));
    const sorted = took.toSorted((one, other) => one - other);
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? NaN;
    process.stdout.write(`      hand-off p50 ${medianOf(took).toFixed(2)} ms, p99 ${p99.toFixed(2)} ms\n`);
  }).timeout(120_000);
});
