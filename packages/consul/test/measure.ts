// Hand-offs of queuelock and of `consul lock` on one server, with the requests that each takes:
// node --conditions=@queuelock/source --import ./.ci/tsx.mjs packages/consul/test/measure.ts 2 100
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient } from '@queuelock/core';
import { startConsul } from '@queuelock/harness/services';
import { consulCommand } from '@queuelock/harness/services/consul-process';
import { consul } from '@queuelock/consul';
import { HttpProxy } from './http-proxy.ts';
import { Operator } from './operator.ts';

const HOLD_MS = 20;
const SETTLED_MS = 2_000;
const LOCK = 'measure';

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Requests of locks, without heartbeats. */
function requestsSince({ passed }: HttpProxy, before: number): number {
  return passed.slice(before).filter(({ path }) => !path.includes('/session/')).length;
}

async function ours(proxy: HttpProxy, operator: Operator, waiters: number): Promise<[Span[], number]> {
  const clients = Array.from({ length: waiters + 1 }, () =>
    createLockClient(consul({ hosts: proxy.endpoint })),
  );
  const spans: Span[] = [];
  const hold = async (client: (typeof clients)[number]): Promise<void> => {
    const ownership = await client.acquire(LOCK);
    const from = performance.now();
    await pause(HOLD_MS);
    spans.push({ from, to: performance.now() });
    await ownership.release();
  };
  const [first, ...others] = clients;
  const holder = await first!.acquire(LOCK);
  const turns = others.map(hold);
  while ((await operator.keysUnder(`queuelock/queues/${LOCK}/`)).length <= waiters) await pause(50);
  await pause(SETTLED_MS);
  const before = proxy.passed.length;
  spans.push({ from: 0, to: performance.now() });
  await holder.release();
  await Promise.all(turns);
  const requests = requestsSince(proxy, before);
  await Promise.all(clients.map((client) => client.close()));
  return [spans, requests];
}

async function theirs(proxy: HttpProxy, operator: Operator, waiters: number): Promise<[Span[], number]> {
  const program = await consulCommand();
  const spans: Span[] = [];
  const hold = async (command: string): Promise<void> => {
    const args = ['lock', `-http-addr=http://${proxy.endpoint}`, LOCK, command];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    await once(child, 'exit');
    const [from = 0, to = 0] = text
      .trim()
      .split('\n')
      .map((line) => Number(BigInt(line) / 1_000n) / 1_000);
    spans.push({ from, to });
  };
  const contenders = async (): Promise<number> => {
    const sessions = (await operator.ask('GET', '/v1/session/list')) as readonly { readonly Name: string }[];
    return sessions.filter(({ Name }) => Name.includes('lock for')).length;
  };
  // Long enough for all others to wait.
  const first = hold('date +%s%N; sleep 20; date +%s%N');
  while ((await contenders()) < 1) await pause(50);
  await pause(SETTLED_MS);
  const turns = Array.from({ length: waiters }, () => hold('date +%s%N; sleep 0.02; date +%s%N'));
  while ((await contenders()) <= waiters) await pause(50);
  await pause(SETTLED_MS);
  const before = proxy.passed.length;
  await Promise.all([first, ...turns]);
  return [spans, requestsSince(proxy, before)];
}

function described([spans, requests]: readonly [readonly Span[], number]): string {
  const ordered = spans.toSorted((a, b) => a.from - b.from);
  const gaps = ordered.slice(1).map(({ from }, at) => from - ordered[at]!.to);
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1);
  return `hand-off p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, requests ${(requests / gaps.length).toFixed(1)}`;
}

const server = await startConsul({ settings: { limits: { http_max_conns_per_client: 2_000 } } });
try {
  for (const waiters of process.argv.slice(2).map(Number)) {
    for (const [name, run] of Object.entries({ queuelock: ours, 'consul lock': theirs })) {
      const proxy = await HttpProxy.start(server.endpoint);
      const result = await run(proxy, new Operator(server.endpoint), waiters);
      console.log(`${name}, ${waiters} waiters: ${described(result)}`);
      await proxy.close();
    }
  }
} finally {
  await server.stop();
}
