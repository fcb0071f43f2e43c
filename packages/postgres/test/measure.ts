// Measures hand-offs and fairness of queuelock, of a blocking pg_advisory_lock, and of the cheapest possible
// stored queue, in one run: measure.ts [contenders] [holds]
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { createLockClient } from '@queuelock/core';
import { migration, postgres } from '@queuelock/postgres';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';

interface Contender {
  hold(work: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const [contenders = 10, holds = 200] = process.argv.slice(2).map(Number);
const HOLD_MS = 5;
const TURNS = 3;

async function queued(url: string): Promise<Contender> {
  const locks = createLockClient(postgres({ url, connections: 1 }));
  await locks.run('warm', async () => undefined);
  return { hold: (work) => locks.run('measured', work), close: () => locks.close() };
}

async function advisory(url: string): Promise<Contender> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    async hold(work) {
      await client.query('select pg_advisory_lock(1)');
      await work();
      await client.query('select pg_advisory_unlock(1)');
    },
    close: () => client.end(),
  };
}

/** The waiting clients of the cheapest possible stored queue, in the order of their requests. */
const line: { readonly channel: string }[] = [];

/**
 * A client of the cheapest possible queue, for comparison. Only this process knows the order of its entries.
 * The server commits one update for an enqueue, and one for a release, which also notifies the next client.
 */
async function floor(url: string): Promise<Contender> {
  const [steps, listener] = [1, 2].map(() => new pg.Client({ connectionString: url })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([steps.connect(), listener.connect()]);
  const me = { channel: `floor_${randomUUID()}` };
  await listener.query(`listen "${me.channel}"`);
  return {
    async hold(work) {
      const notified = new Promise((resolve) => listener.once('notification', resolve));
      const isFirst = line.push(me) === 1;
      await steps.query('update floor set n = n + 1');
      if (!isFirst) await notified;
      await work();
      line.shift();
      const next = line[0]?.channel;
      if (next === undefined) await steps.query('update floor set n = n + 1');
      else {
        const step =
          'with step as (update floor set n = n + 1 returning n) select pg_notify($1, $2) from step';
        await steps.query(step, [next, '']);
      }
    },
    async close() {
      await Promise.all([steps.end(), listener.end()]);
    },
  };
}

interface Measured {
  readonly gaps: number[];
  readonly waits: number[];
  readonly cpu: { readonly client: number[]; readonly server: number[] };
}

/** Returns the CPU time, in milliseconds, of all server processes that run now. */
async function serverCpuMs(): Promise<number> {
  const { rows } = await operator.query<{ pid: number }>(
    'select pid from pg_stat_activity where pid <> pg_backend_pid()',
  );
  const times = await Promise.all(
    rows.map(({ pid }) => readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')),
  );
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
}

async function turn(
  make: (url: string) => Promise<Contender>,
  url: string,
  { gaps, waits, cpu }: Measured,
): Promise<void> {
  const all: Contender[] = [];
  for (let nth = 0; nth < contenders; nth += 1) all.push(await make(url));
  const before = { client: process.cpuUsage(), server: await serverCpuMs() };
  let left = holds;
  let last: { readonly endedAt: number; readonly by: Contender } | undefined;
  const contend = async (contender: Contender): Promise<void> => {
    while (left > 0) {
      const requestedAt = performance.now();
      await contender.hold(async () => {
        const now = performance.now();
        left -= 1;
        waits.push(now - requestedAt);
        if (last && last.by !== contender) gaps.push(now - last.endedAt);
        await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
        last = { endedAt: performance.now(), by: contender };
      });
    }
  };
  await Promise.all(all.map(contend));
  const { user, system } = process.cpuUsage(before.client);
  cpu.client.push((user + system) / 1e3 / holds);
  cpu.server.push(((await serverCpuMs()) - before.server) / holds);
  await Promise.all(all.map((contender) => contender.close()));
}

function at(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(2);
}

const server = await startPostgres();
const operator = new pg.Client({ connectionString: postgresUrl(server) });
await operator.connect();
await operator.query(
  `create table floor (n bigint not null) with (fillfactor = 50); insert into floor values (0);${migration()}`,
);
const kinds = [
  ['queuelock', queued],
  ['pg_advisory_lock', advisory],
  ['bare floor', floor],
] as const;
const measured = kinds.map(([name, make]) => ({
  name,
  make,
  gaps: [] as number[],
  waits: [] as number[],
  cpu: { client: [] as number[], server: [] as number[] },
}));
for (let round = 0; round < TURNS; round += 1)
  for (const kind of measured) await turn(kind.make, postgresUrl(server), kind);
for (const { name, gaps, waits, cpu } of measured) {
  const words = [
    `hand-off p50 ${at(gaps, 0.5)} ms`,
    `p99 ${at(gaps, 0.99)} ms`,
    `client CPU ${at(cpu.client, 0.5)} ms, server CPU ${at(cpu.server, 0.5)} ms`,
    `longest wait ${Math.max(...waits).toFixed(0)} ms`,
  ];
  process.stdout.write(`${name.padEnd(18)} ${words.join(', ')}, median wait ${at(waits, 0.5)} ms\n`);
}
await operator.end();
await server.stop();
