// Hand-off and fairness next to a blocking pg_advisory_lock, in one run: measure.ts [contenders] [holds]
import pg from 'pg';
import { createLockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { postgresUrl, startPostgres } from '../../../integration/services/postgres-process.ts';

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

interface Measured {
  readonly gaps: number[];
  readonly waits: number[];
}

async function turn(
  make: (url: string) => Promise<Contender>,
  url: string,
  { gaps, waits }: Measured,
): Promise<void> {
  const all = await Promise.all(Array.from({ length: contenders }, () => make(url)));
  let left = holds;
  let last: { readonly endedAt: number; readonly by: Contender } | undefined;
  const contend = async (contender: Contender): Promise<void> => {
    while (left > 0) {
      const askedAt = performance.now();
      await contender.hold(async () => {
        const now = performance.now();
        left -= 1;
        waits.push(now - askedAt);
        if (last && last.by !== contender) gaps.push(now - last.endedAt);
        await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
        last = { endedAt: performance.now(), by: contender };
      });
    }
  };
  await Promise.all(all.map(contend));
  await Promise.all(all.map((contender) => contender.close()));
}

function at(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(2);
}

const server = await startPostgres();
const kinds = [
  ['queuelock', queued],
  ['pg_advisory_lock', advisory],
] as const;
const measured = kinds.map(([name, make]) => ({ name, make, gaps: [] as number[], waits: [] as number[] }));
for (let round = 0; round < TURNS; round += 1)
  for (const kind of measured) await turn(kind.make, postgresUrl(server), kind);
for (const { name, gaps, waits } of measured) {
  const words = [
    `hand-off p50 ${at(gaps, 0.5)} ms`,
    `p99 ${at(gaps, 0.99)} ms`,
    `longest wait ${Math.max(...waits).toFixed(0)} ms`,
  ];
  process.stdout.write(`${name.padEnd(18)} ${words.join(', ')}, median wait ${at(waits, 0.5)} ms\n`);
}
await server.stop();
