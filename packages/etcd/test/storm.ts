// Servers that do not serve, a client that holds and waits meanwhile, and what that costs.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, type LockClient } from '@queuelock/core';
import { repeatUntilDefinite, type Backend } from '@queuelock/core/backend';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import { startProxy, type TcpProxy } from '../../../integration/faults.ts';
import { eventually, freshQueue } from './clients.ts';

/** What a server does to those who connect. */
export const TROUBLES = ['accepts and closes', 'refuses', 'is silent'] as const;
export type Trouble = (typeof TROUBLES)[number];

/** What was seen of a client while its servers did not serve. */
export interface Cost {
  readonly forMs: number;
  /** Moments at which it began to connect. */
  readonly attempts: readonly number[];
  /** Of one processor, from 0 to 1. */
  readonly cpu: number;
}

const OPENED = 'net.client.socket';

/** The sockets to these ports that this process opens meanwhile, by when it began to. */
export async function attemptsDuring(
  ports: readonly number[],
  work: () => Promise<unknown>,
): Promise<number[]> {
  const attempts: number[] = [];
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    const at = performance.now();
    socket.once('connectionAttempt', (_address: string, port: number) => {
      if (ports.includes(port)) attempts.push(at);
    });
  };
  subscribe(OPENED, note);
  await work();
  unsubscribe(OPENED, note);
  return attempts;
}

/** The most of these moments that lie in one second. */
export function mostInASecond(moments: readonly number[]): number {
  return Math.max(
    0,
    ...moments.map((from) => moments.filter((at) => at >= from && at < from + 1_000).length),
  );
}

export async function costOf(ports: readonly number[], forMs: number): Promise<Cost> {
  const before = process.cpuUsage();
  const begun = performance.now();
  const attempts = await attemptsDuring(ports, () => pause(forMs));
  const { user, system } = process.cpuUsage(before);
  const tookMs = performance.now() - begun;
  return { forMs: tookMs, attempts, cpu: (user + system) / 1_000 / tookMs };
}

/** A way to a server, and what becomes of it. */
export class Ways {
  readonly #proxies: TcpProxy[] = [];
  readonly #closing = createServer((socket) => socket.destroy());
  readonly #server: string;
  #closes = false;

  private constructor(server: string) {
    this.#server = server;
  }

  static async to(server: string, count: number): Promise<Ways> {
    const ways = new Ways(server);
    ways.#closing.listen(0, '127.0.0.1');
    await once(ways.#closing, 'listening');
    for (let i = 0; i < count; i += 1) ways.#proxies.push(await startProxy(() => ways.#target));
    return ways;
  }

  get hosts(): readonly string[] {
    return this.#proxies.map(({ endpoint }) => endpoint);
  }

  get ports(): readonly number[] {
    return this.hosts.map((host) => Number(host.split(':')[1]));
  }

  begin(trouble: Trouble): void {
    this.#closes = trouble === 'accepts and closes';
    for (const proxy of this.#proxies) {
      if (trouble === 'refuses') proxy.refuse();
      if (trouble === 'is silent') proxy.toClient.blackhole();
      proxy.cut();
    }
  }

  async stop(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.stop();
    this.#closing.close();
  }

  get #target(): string {
    return this.#closes ? `127.0.0.1:${(this.#closing.address() as AddressInfo).port}` : this.#server;
  }
}

/** A client that holds one lock and waits for another one, with a session that outlives the test. */
export async function busyClient(options: EtcdOptions): Promise<LockClient> {
  const client = createLockClient(etcd(options), { ttlMs: 600_000 });
  const [held, waiting] = [freshQueue(), freshQueue()];
  await client.acquire(held);
  await client.acquire(waiting);
  let queued = false;
  client.claim(waiting).subscribe(({ status }) => (queued = status === 'queued'));
  await eventually('it waits', () => queued);
  return client;
}

/** Tries to open a session as the core does, again and again. */
export function openingAgain(options: EtcdOptions): { readonly stop: () => Promise<void> } {
  const backend: Backend = etcd(options);
  const stop = new AbortController();
  const opening = repeatUntilDefinite(async () => backend.open(10_000, stop.signal), stop.signal).catch(
    () => undefined,
  );
  return {
    stop: async () => {
      stop.abort(new Error('seen enough'));
      await opening;
      await backend.close();
    },
  };
}
