// Creates clients that are busy while their servers fail, and measures their connection attempts and the CPU time of this process.
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, type LockClient } from '@queuelock/core';
import { repeatUntilDefinite, type Backend } from '@queuelock/core/backend';
import { etcd, type EtcdOptions } from '@queuelock/etcd';

/** What a client cost this process while its servers failed: the duration of the measurement, its connection attempts and its CPU time. */
export interface Cost {
  readonly forMs: number;
  /** The times, by `performance.now()`, at which the client began to open a connection. */
  readonly attempts: readonly number[];
  /** The CPU time of this process during the measurement, as a fraction of the time of one CPU. */
  readonly cpu: number;
}

const OPENED = 'net.client.socket';

/** Returns the times at which this process began to connect to one of the given ports while the work ran. */
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

/** Returns how many of the given times, at most, are within any one second. */
export function maxPerSecond(moments: readonly number[]): number {
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

/**
 * Creates a client that holds two locks, and waits to hold one of them a second time. Its session lives
 * longer than the test.
 */
export async function busyClient(options: EtcdOptions): Promise<LockClient> {
  const client = createLockClient(etcd(options), { ttlMs: 600_000 });
  const [held, waiting] = [randomUUID(), randomUUID()];
  await client.acquire(held);
  await client.acquire(waiting);
  const claim$ = client.claim(waiting);
  await new Promise<void>((resolve) => {
    claim$.subscribe(({ status }) => {
      if (status === 'queued') resolve();
    });
  });
  return client;
}

/** Opens a session again and again until it succeeds, as the core does. */
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
