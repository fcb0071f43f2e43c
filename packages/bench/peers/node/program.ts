// A client program: program.ts CLIENT SCENARIO key=value …; see README.md, "The protocol".
import { setTimeout as pause } from 'node:timers/promises';
import type { Lock, RawStore } from './contender.ts';
import { chain, drain } from './drain.ts';
import { free, loops } from './free.ts';
import { fresh, type Noise } from './fresh.ts';
import type { OwnLock } from './ours.ts';
import { idle, many, mass } from './own-scenarios.ts';
import { Parameters, say } from './protocol.ts';
import { spread, spreadPart } from './spread.ts';

const NOISE_EVERY_MS = 2;

const ours: Readonly<Record<string, () => Promise<OwnLock>>> = {
  'ours-etcd3': async () => (await import('./ours.ts')).oursOverEtcd('etcd3'),
  'ours-http2': async () => (await import('./ours.ts')).oursOverEtcd('http2'),
  'ours-socket': async () => (await import('./ours.ts')).oursOverEtcd('socket'),
  'ours-etcd3-fast': async () => (await import('./ours.ts')).oursOverEtcd('etcd3', 'fast'),
  'ours-http2-fast': async () => (await import('./ours.ts')).oursOverEtcd('http2', 'fast'),
  'ours-socket-fast': async () => (await import('./ours.ts')).oursOverEtcd('socket', 'fast'),
  'ours-zookeeper': async () => (await import('./ours.ts')).oursOverZooKeeper('native'),
  'ours-wire': async () => (await import('./ours.ts')).oursOverZooKeeper('wire'),
};

const locks: Readonly<Record<string, () => Promise<Lock>>> = {
  ...ours,
  'etcd3-lock': async () => (await import('./etcd3-peers.ts')).etcd3Lock(),
  'etcd3-election': async () => (await import('./etcd3-peers.ts')).etcd3Election(),
  'redis-semaphore': async () => (await import('./redis-peers.ts')).redisSemaphore(),
  redlock: async () => (await import('./redis-peers.ts')).redlock(),
};

const stores: Readonly<Record<string, () => Promise<RawStore>>> = {
  'raw-etcd3': async () => (await import('./raw-etcd.ts')).rawEtcd('etcd3'),
  'raw-http2': async () => (await import('./raw-etcd.ts')).rawEtcd('http2'),
  'raw-socket': async () => (await import('./raw-etcd.ts')).rawEtcd('socket'),
  'raw-zookeeper': async () => (await import('./raw-zookeeper.ts')).rawZooKeeper(),
  'raw-wire': async () => (await import('./raw-wire.ts')).rawWire(),
};

const noise: Noise = async () => {
  const store = await (process.env['ETCD'] ? stores['raw-etcd3'] : stores['raw-zookeeper'])?.();
  if (!store) throw new Error('there is nothing to write to');
  const end = new AbortController();
  const writes = writeUntil(store, end.signal);
  return async () => {
    end.abort();
    await writes;
    await store.close();
  };
};

async function writeUntil(store: RawStore, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    await store.create('noise-key');
    await store.remove('noise-key');
    await pause(NOISE_EVERY_MS);
  }
}

async function floor(store: RawStore, parameters: Parameters): Promise<object> {
  const call = store.calls[parameters.text('what')];
  if (!call)
    throw new Error(`what=${parameters.text('what')} is none of ${Object.keys(store.calls).join(', ')}`);
  const result = await loops(parameters, {
    count: parameters.number('inflight'),
    cycle: (loop) => call(`${parameters.text('name')}-${loop}`),
  });
  await store.close();
  return result;
}

async function run(client: string, scenario: string, parameters: Parameters): Promise<object> {
  const own = await ours[client]?.();
  if (own && scenario === 'many') return many(own, parameters);
  if (own && scenario === 'mass') return mass(own, parameters);
  if (own && scenario === 'idle') return idle(own, parameters);
  if (own && scenario === 'spread') return spread(own, client, parameters);
  if (own && scenario === 'spread-part') return spreadPart(own, parameters);
  const lock = await locks[client]?.();
  if (lock && scenario === 'free') return free(lock, parameters);
  if (lock && scenario === 'drain') return drain(lock, parameters);
  if (lock && scenario === 'fresh') return fresh(lock, parameters, noise);
  const store = await stores[client]?.();
  if (store && scenario === 'floor') return floor(store, parameters);
  if (store && scenario === 'chain') return chain(store, parameters);
  throw new Error(`there is no ${client} that does ${scenario}`);
}

const [client = '', scenario = '', ...rest] = process.argv.slice(2);
say({ ...(await run(client, scenario, new Parameters(rest))) });
// Exits explicitly, because a client library may have left a handle open.
process.exit(0);
