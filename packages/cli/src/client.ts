import { createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { backendFromUrl, type BackendUse } from './backends.ts';
import { placeOf, type PlaceOptions } from './config/place.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import { lineWriter, type LineWriter } from './lines.ts';
import { readerGone, stopOnSignals, type Stop } from './stop.ts';

/** What a command line says about the client of a command. */
export interface ClientOptions extends PlaceOptions, BackendUse {
  /** In seconds; without it that of the profile, else the backend's own default. */
  readonly ttl?: number;
  /** The label in queues; without it `host:pid`. */
  readonly id?: string;
  /** Of the fencing tokens; without it that of the profile, else 0. */
  readonly epoch?: number;
  /** Put between the client and its backend. */
  readonly way?: (backend: Backend) => Backend;
}

interface OpenedClient {
  readonly client: LockClient;
  /** The one under the client; closed with it. */
  readonly backend: Backend;
  readonly ttlMs: number;
  readonly epoch: number;
}

/** What a command works with. */
export interface Surroundings extends OpenedClient {
  /** Ends with the first signal, or when nobody reads the output any more. */
  readonly stop: Stop;
  /** Standard output. */
  readonly lines: LineWriter;
}

/**
 * Does the work of a command with a client, and closes the client on every end: done, failed, stopped by a signal, or nobody
 * there to read. Nothing of it is left in a queue then, or the TTL takes it away where the server cannot be reached.
 * @returns the exit code: that of the stop if there was one, else what `work` answers
 */
export async function withClient(
  options: ClientOptions,
  work: (surroundings: Surroundings) => Promise<number>,
): Promise<number> {
  const stop = stopOnSignals();
  let lines: LineWriter | undefined;
  const opened = await openClient(options);
  try {
    const exitCode = await work({
      ...opened,
      stop,
      // Whoever runs a program leaves standard output to it.
      get lines() {
        return (lines ??= lineWriter(process.stdout, () => {
          stop.ask(readerGone());
        }));
      },
    });
    return stop.exitCode ?? exitCode;
  } catch (error) {
    if (stop.exitCode !== undefined && error === stop.signal.reason) return stop.exitCode;
    throw error;
  } finally {
    await opened.client.close();
    await lines?.flushed();
  }
}

/** A client of the place that the options name; nothing is connected yet. */
async function openClient({
  ttl,
  id,
  epoch,
  outlived,
  way = (backend) => backend,
  ...options
}: ClientOptions): Promise<OpenedClient> {
  const place = placeOf(options);
  const backend = way(await backendFromUrl(place.url, outlived ? { outlived } : {}));
  try {
    const ttlMs = ttlOf(backend, ttl ?? place.ttl);
    const client = createLockClient(backend, { ttlMs, ...(id === undefined ? {} : { owner: id }) });
    return { client, backend, ttlMs, epoch: epoch ?? place.epoch ?? 0 };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

function ttlOf({ info }: Backend, seconds: number | undefined): number {
  const { minTtlMs, minTtlRule, defaultTtlMs, name } = info;
  const ttlMs = seconds === undefined ? defaultTtlMs : seconds * 1000;
  if (ttlMs >= minTtlMs) return ttlMs;
  const least = String(Math.ceil(minTtlMs / 1000));
  const why = minTtlRule === undefined ? '' : `: ${minTtlRule}`;
  const message = `--ttl ${String(ttlMs / 1000)} is too short: ${name} needs at least ${least} seconds${why}`;
  throw new Failure(message, { exitCode: EXIT.usage });
}
