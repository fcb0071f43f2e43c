import { expect } from 'chai';
import type { Client } from 'pg';
import { Clients } from './clients.ts';

const [SHORT, LONG] = [200, 1_000];
const ROUNDS = 20;
// How many more pages of an index a step may read in a long queue than in a short one. The long queue has
// five times as many entries, so its index has at most one more level. Each read of the step visits one page
// of that level.
const MORE_PAGES = 20;

/** The numbers of rows and pages that the server read or wrote for one call of an SQL function. */
interface Cost {
  readonly rows: number;
  readonly pages: number;
}

describe('a long queue on PostgreSQL', () => {
  const clients = new Clients();

  /**
   * Fills a queue with `depth` entries. Then removes the first entry and adds one at the end, again and
   * again. Returns the rows and pages that the server read or wrote for the last removal and for the last
   * enqueue.
   */
  async function costs(
    num: unknown,
    depth: number,
  ): Promise<{ readonly leaving: Cost; readonly joining: Cost }> {
    const { operator } = clients;
    const queue = `line of ${depth}`;
    const join = (nth: number): string => {
      const spec = { queue, id: `${depth}:${nth}`, shared: false, limit: 1, permits: 1, value: '' };
      return `queuelock.enqueue(${String(num)}, 1, false, '[${JSON.stringify(spec)}]')`;
    };
    for (let nth = 0; nth < depth; nth += 1) await operator.query(`select ${join(nth)}`);
    let leaving!: Cost;
    let joining!: Cost;
    for (let nth = 0; nth < ROUNDS; nth += 1) {
      leaving = await costOf(
        operator,
        `queuelock.remove(${String(num)}, 1, '${queue}', '${depth}:${nth}', false, null)`,
      );
      joining = await costOf(operator, join(depth + nth));
    }
    const first = await clients.column(
      'select id from queuelock.entry where queue = $1 and admitted order by ord',
      queue,
    );
    expect(first, 'the one whose turn it is').to.deep.equal([`${depth}:${ROUNDS}`]);
    return { leaving, joining };
  }

  it(`needs as many row reads and writes in a queue of ${SHORT} entries as in one of ${LONG}`, async () => {
    const { id } = await clients.session(clients.connect({ requestTimeoutMs: 20_000 }), 600_000);
    const [num] = await clients.column('select num from queuelock.session where id = $1', id);
    const [short, long] = [await costs(num, SHORT), await costs(num, LONG)];
    process.stdout.write(`      ${SHORT}: ${JSON.stringify(short)}; ${LONG}: ${JSON.stringify(long)}\n`);
    for (const step of ['leaving', 'joining'] as const) {
      expect(long[step].rows, step).to.equal(short[step].rows);
      expect(long[step].pages, step).to.be.at.most(short[step].pages + MORE_PAGES);
    }
  }).timeout(300_000);

  it('needs no more row reads and writes for a removal when the server has 1,000 more sessions', async () => {
    const { id } = await clients.session(clients.connect({ requestTimeoutMs: 20_000 }), 600_000);
    const [num] = await clients.column('select num from queuelock.session where id = $1', id);
    const { leaving } = await costs(num, 30);
    await clients.operator.query(
      `insert into queuelock.session (id, generation, ttl, expires, inbox)
        select 'client ' || nth, 1, interval '1 h', clock_timestamp() + interval '1 h', '' from generate_series(1, 1000) nth`,
    );
    expect((await costs(num, 31)).leaving.rows).to.equal(leaving.rows);
  });
});

async function costOf(operator: Client, step: string): Promise<Cost> {
  await operator.query('begin');
  const before = await rowsOf(operator);
  const {
    rows: [explained],
  } = await operator.query<{ readonly 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
    `explain (analyze, buffers, format json) select ${step}`,
  );
  const rows = (await rowsOf(operator)) - before;
  await operator.query('commit');
  const plan = explained?.['QUERY PLAN'][0]?.Plan;
  return { rows, pages: (plan?.['Shared Hit Blocks'] ?? NaN) + (plan?.['Shared Read Blocks'] ?? NaN) };
}

/** Returns the number of rows that this connection has read and written in the current transaction. */
async function rowsOf(operator: Client): Promise<number> {
  const { rows } = await operator.query<{ readonly touched: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::int as touched
      from pg_stat_xact_user_tables where schemaname = 'queuelock'`,
  );
  return rows[0]?.touched ?? NaN;
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}
