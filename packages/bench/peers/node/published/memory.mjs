// Client program for the scenario `memory`: memory.mjs KIND memory n=… name=…. Measures the memory of a
// process with `n` waiters, with the published packages. Needs --expose-gc.
import { setTimeout as pause } from 'node:timers/promises';
import { clientOver } from './backends.mjs';

const [kind, , ...rest] = process.argv.slice(2);
const parameters = Object.fromEntries(rest.map((argument) => argument.split('=')));
const n = Number(parameters.n);
const SETTLE_MS = 1_000;

/** Adds one waiter, and resolves when it waits. */
async function ours() {
  const client = await clientOver(kind);
  await client.acquire(parameters.name);
  return () =>
    new Promise((queued, failed) => {
      client.claim(parameters.name).subscribe((state) => {
        if (state.status === 'queued') queued();
        if (state.status === 'ended') failed(state.error);
      });
    });
}

async function etcd3Watchers() {
  const { Etcd3 } = await import('etcd3');
  const client = new Etcd3({ hosts: process.env.ETCD });
  const lease = client.lease(60);
  await lease.grant();
  let last = 0;
  return async () => {
    last += 1;
    const key = `${parameters.name}/${last}`;
    await lease.put(key).value('').exec();
    await client.watch().key(key).create();
  };
}

async function taken() {
  await pause(SETTLE_MS);
  global.gc();
  global.gc();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed };
}

const wait = await (kind === 'etcd3-watchers' ? etcd3Watchers() : ours());
await Promise.all(Array.from({ length: 100 }, wait));
const before = await taken();
for (let done = 100; done < n; done += 100) await Promise.all(Array.from({ length: 100 }, wait));
const after = await taken();
const result = {
  rssPerWait: (after.rss - before.rss) / (n - 100),
  heapPerWait: (after.heap - before.heap) / (n - 100),
  rssMb: after.rss / 2 ** 20,
  heapMb: after.heap / 2 ** 20,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
