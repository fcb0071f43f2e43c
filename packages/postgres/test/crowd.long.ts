import { expect } from 'chai';
import { createLockClient, type Ownership } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { medianOf } from '../../../integration/median.ts';
import { Clients } from './clients.ts';

const TTL_MS = 600_000;
const ROUNDS = 40;

describe('a crowd on PostgreSQL', () => {
  const clients = new Clients();

  /** The median of some hand-offs at the front of so long a line, in milliseconds. */
  async function handOff(depth: number): Promise<number> {
    const locks = createLockClient(postgres({ url: clients.url }), { ttlMs: TTL_MS });
    const queue = `line of ${depth}`;
    let ownership = await locks.acquire(queue);
    const controller = new AbortController();
    const granted: ((held: Ownership) => void)[] = [];
    const claims = Array.from({ length: depth }, async () => {
      const held = await locks.acquire(queue, { signal: controller.signal });
      granted.shift()?.(held);
    });
    for (const claim of claims) claim.catch(() => undefined);
    await clients.until(`select count(*)::int from queuelock.entry where queue = '${queue}'`, depth + 1);
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
    await locks.close();
    return medianOf(took);
  }

  it('costs a hand-off the same with 100 and with 1,000 in line', async () => {
    await handOff(50);
    const [short, long] = [await handOff(100), await handOff(1_000)];
    process.stdout.write(`      100 in line: ${short.toFixed(2)} ms; 1,000 in line: ${long.toFixed(2)} ms\n`);
    expect(long).to.be.below(2 * short + 5);
  }).timeout(300_000);
});
