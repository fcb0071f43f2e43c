// Measures hand-offs of queuelock, of `consul lock` and of `Lock` in Consul's Go client on one server, and
// counts their requests. Run it with the numbers of waiters: node --conditions=@queuelock/source --import
// ./.ci/tsx.mjs packages/consul/test/measure.ts 2 100 1000
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLockClient } from '@queuelock/core';
import { startConsul } from '@queuelock/harness/services';
import { buildWithConsulApi } from '@queuelock/harness/services/consul-go';
import { consulCommand } from '@queuelock/harness/services/consul-process';
import { consul } from '@queuelock/consul';
import { HttpProxy } from './http-proxy.ts';
import { Operator } from './operator.ts';

const HOLD_MS = 20;
/** Session TTL in milliseconds. It is so long that a thousand sessions in one process do not expire on a busy machine. */
const TTL_MS = 60_000;
const SETTLED_MS = 3_000;
/** Number of clients that connect at the same time. */
const BATCH = 50;
/** Number of runs for each kind of lock. With more than 100 waiters, each kind runs only once. */
const ROUNDS = 3;
/** Maximum number of waiters of `consul lock`, each of which is a process. */
const MOST_PROCESSES = 100;
/** Maximum number of hand-offs that a run measures. Runs that count requests through a proxy are slower and measure only 5. */
const MOST_TIMED = 50;
const MOST_COUNTED = 5;
const GO = fileURLToPath(new URL('../../../integration/interop/programs/go-consul', import.meta.url));
const LOCK_FLAGS = String(0x2ddccbc058a50c18n);

/** A run of one kind of lock. All clients wait behind one holder, and then hold one after another. */
interface Run {
  readonly endpoint: string;
  readonly operator: Operator;
  readonly name: string;
  readonly waiters: number;
  readonly handOffs: number;
  /** Called right before the first release, when all clients but the holder wait. */
  readonly onStart: () => void;
  /** Called after the last hand-off, before any client is closed. */
  readonly onEnd: () => void;
}

/** Durations from the end of a hold to the beginning of the next one, in milliseconds. */
type Gaps = readonly number[];

async function ours({ endpoint, operator, name, waiters, handOffs, onStart, onEnd }: Run): Promise<Gaps> {
  const clients = Array.from({ length: waiters + 1 }, () =>
    createLockClient(consul({ hosts: endpoint }), { ttlMs: TTL_MS, connectTimeoutMs: TTL_MS }),
  );
  const [first, ...others] = clients;
  const holder = await first!.acquire(name);
  const leaving = new AbortController();
  const gaps: number[] = [];
  let to = 0;
  let enter = (_client: (typeof clients)[number]): void => undefined;
  const done = new Promise<void>((resolve, reject) => {
    const hold = async (client: (typeof clients)[number]): Promise<void> => {
      const ownership = await client.acquire(name, { signal: leaving.signal });
      gaps.push(performance.now() - to);
      await pause(HOLD_MS);
      if (gaps.length === handOffs) resolve();
      to = performance.now();
      await ownership.release();
    };
    enter = (client): void => {
      void hold(client).catch((error: unknown) => {
        if (!leaving.signal.aborted) reject(error instanceof Error ? error : new Error(String(error)));
      });
    };
  });
  for (const [at, client] of others.entries()) {
    enter(client);
    const isLast = at === waiters - 1;
    if (!isLast && at % BATCH !== 0) continue;
    while ((await operator.keysUnder(`queuelock/queues/${name}/`)).length <= at + 1) await pause(50);
  }
  await pause(SETTLED_MS);
  onStart();
  to = performance.now();
  await holder.release();
  await done;
  onEnd();
  leaving.abort();
  await Promise.all(clients.map((client) => client.close()));
  return gaps;
}

/**
 * Measures a lock of another program by starting `processes` processes of it. Each process prints when each of its holds began and ended, in
 * nanoseconds.
 */
async function theirs(run: Run, command: readonly string[], processes: number): Promise<Gaps> {
  const { operator, name, waiters, handOffs, onStart, onEnd } = run;
  const key = `${name}/.lock`;
  const { ID } = (await operator.ask(
    'PUT',
    '/v1/session/create',
    '{"TTL":"600s","LockDelay":"0s","NodeChecks":[],"Checks":[]}',
  )) as { readonly ID: string };
  await operator.ask('PUT', `/v1/kv/${key}?acquire=${ID}&flags=${LOCK_FLAGS}`, 'first');
  const newSessions = async (after: number): Promise<readonly number[]> => {
    const all = (await operator.ask('GET', '/v1/session/list')) as readonly {
      readonly CreateIndex: number;
    }[];
    return all.map(({ CreateIndex }) => CreateIndex).filter((index) => index > after);
  };
  // Sessions of earlier runs may still exist. Only sessions with a larger index than the newest of those
  // belong to this run.
  const newest = Math.max(...(await newSessions(0)));
  const [program = '', ...args] = command;
  const children = Array.from({ length: processes }, () =>
    spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const stamps: (readonly [from: number, to: number])[] = [];
  const done = new Promise<void>((resolve) => {
    for (const { stdout } of children)
      createInterface(stdout).on('line', (line) => {
        const [from = 0, to = 0] = line.split(' ').map((text) => Number(BigInt(text) / 1_000n) / 1_000);
        if (stamps.push([from, to]) > handOffs) resolve();
        if (stamps.length === waiters) resolve();
      });
  });
  while ((await newSessions(newest)).length < waiters) await pause(200);
  await pause(SETTLED_MS);
  onStart();
  await operator.ask('PUT', `/v1/kv/${key}?release=${ID}&flags=${LOCK_FLAGS}`);
  await done;
  onEnd();
  await Promise.all(
    children.map(async (child) => {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await ended;
    }),
  );
  const ordered = stamps.toSorted(([one], [other]) => one - other);
  return ordered.slice(1).map(([from], at) => from - ordered[at]![1]);
}

async function consulLock(run: Run): Promise<Gaps> {
  const held = 'from=$(date +%s%N); sleep 0.02; echo "$from $(date +%s%N)"';
  const args = ['lock', `-http-addr=http://${run.endpoint}`, run.name, held];
  return theirs(run, [await consulCommand(), ...args], run.waiters);
}

async function goLock(run: Run, program: string): Promise<Gaps> {
  const args = ['crowd', run.endpoint, `${run.name}/.lock`, String(run.waiters), String(HOLD_MS)];
  return theirs(run, [program, ...args], 1);
}

function share(values: readonly number[], at: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(at * (values.length - 1))] ?? NaN;
}

/** Returns how many requests the proxy has passed on since it had passed on `before` of them. Requests about sessions do not count. */
function requestsSince({ passed }: HttpProxy, before: number): number {
  return passed.slice(before).filter(({ path }) => !path.includes('/session/')).length;
}

let runs = 0;
const go = await buildWithConsulApi(GO);
const kinds: Readonly<Record<string, (run: Run) => Promise<Gaps>>> = {
  queuelock: ours,
  'consul lock': consulLock,
  'Go Lock': (run) => goLock(run, go),
};
const server = await startConsul({ settings: { limits: { http_max_conns_per_client: 4_000 } } });
const operator = new Operator(server.endpoint);

async function timed(kind: (run: Run) => Promise<Gaps>, waiters: number): Promise<Gaps> {
  const name = `measure-${(runs += 1)}`;
  const handOffs = Math.min(waiters, MOST_TIMED);
  const [onStart, onEnd] = [(): void => undefined, (): void => undefined];
  return kind({ endpoint: server.endpoint, operator, name, waiters, handOffs, onStart, onEnd });
}

async function counted(kind: (run: Run) => Promise<Gaps>, waiters: number): Promise<number> {
  const proxy = await HttpProxy.start(server.endpoint);
  const name = `measure-${(runs += 1)}`;
  const handOffs = Math.min(waiters, MOST_COUNTED);
  let before = 0;
  const onStart = (): void => {
    before = proxy.passed.length;
  };
  let requests = 0;
  const onEnd = (): void => {
    requests = requestsSince(proxy, before);
  };
  await kind({ endpoint: proxy.endpoint, operator, name, waiters, handOffs, onStart, onEnd });
  await proxy.close();
  return requests / handOffs;
}

try {
  for (const waiters of process.argv.slice(2).map(Number)) {
    const able = Object.entries(kinds).filter(
      ([name]) => name !== 'consul lock' || waiters <= MOST_PROCESSES,
    );
    const medians = new Map<string, number[]>(able.map(([name]) => [name, []]));
    const highs = new Map<string, number[]>(able.map(([name]) => [name, []]));
    for (let round = 0; round < (waiters > MOST_PROCESSES ? 1 : ROUNDS); round += 1)
      for (const [name, kind] of able) {
        const gaps = await timed(kind, waiters);
        console.error(
          `${name}, ${waiters} waiters, round ${round + 1}: p50 ${share(gaps, 0.5).toFixed(1)} ms`,
        );
        medians.get(name)!.push(share(gaps, 0.5));
        highs.get(name)!.push(share(gaps, 0.95));
      }
    for (const [name, kind] of able) {
      const [p50, p95] = [medians, highs].map((of) => share(of.get(name)!, 0.5).toFixed(1));
      const requests = (await counted(kind, waiters)).toFixed(1);
      console.log(`${name}, ${waiters} waiters: hand-off p50 ${p50} ms, p95 ${p95} ms, requests ${requests}`);
    }
  }
} finally {
  await server.stop();
}
