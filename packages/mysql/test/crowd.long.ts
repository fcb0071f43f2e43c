import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { medianOf } from '@queuelock/harness/median';
import { Clients } from './clients.ts';

const TTL_MS = 600_000;
const ROUNDS = 40;
const HOLD_MS = 5;

describe('a long queue on MySQL', () => {
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

  /**
   * Fills a queue with `depth` entries. Then removes some entries from the front one by one, and adds an
   * entry at the end after each removal. Returns how many rows the server read or wrote for the last removal,
   * and for the last enqueue.
   */
  async function costs(depth: number): Promise<{ readonly leaving: number; readonly joining: number }> {
    const { operator } = clients;
    const session = await clients.session(undefined, TTL_MS);
    const queue = Buffer.from(`line of ${depth}`).toString('hex');
    const idOf = (nth: number): string => String(nth).padStart(32, String(depth));
    const join = (nth: number): string => {
      const spec = { queue, id: idOf(nth), shared: 0, limit: 1, permits: 1, value: '' };
      return `call queuelock_enter('${session.id}', 1, 0, '[${JSON.stringify(spec)}]')`;
    };
    for (let nth = 0; nth < depth; nth += 1) await operator.run(join(nth));
    let leaving = NaN;
    let joining = NaN;
    for (let nth = 0; nth < ROUNDS; nth += 1) {
      leaving = await operator.rowsOf(
        `call queuelock_leave('${session.id}', 1, x'${queue}', '${idOf(nth)}', 0, 0)`,
      );
      joining = await operator.rowsOf(join(depth + nth));
    }
    const admitted = `select id from queuelock_entry where queue = x'${queue}' and admitted = 1`;
    expect(await operator.rows(admitted)).to.deep.equal([{ id: idOf(ROUNDS) }]);
    return { leaving, joining };
  }

  it('costs a removal or an enqueue no more row accesses with 1,000 entries than with 200', async () => {
    const [short, long] = [await costs(200), await costs(1_000)];
    process.stdout.write(`      200: ${JSON.stringify(short)}; 1,000: ${JSON.stringify(long)}\n`);
    expect(long).to.deep.equal(short);
  }).timeout(300_000);

  it('admits ten waiters in order, each with connections of its own', async () => {
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
