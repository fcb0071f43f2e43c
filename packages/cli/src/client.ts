import { createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { backendFromUrl, type BackendUse } from './backends.ts';
import { selectStore, type StoreOptions } from './config/store-selection.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import { lineWriter, type LineWriter } from './lines.ts';
import { noteErrors } from './note.ts';
import { readerClosed, stopOnSignals, type Stop } from './stop.ts';

/** Options of a command line that configure its lock client. */
export interface ClientOptions extends StoreOptions, BackendUse {
  /**
   * Lease TTL in seconds. Default: that of the profile in the configuration file, then that of the backend.
   */
  readonly ttl?: number;
  /** Owner label in queues. Default: `host:pid`. */
  readonly id?: string;
  /**
   * Number of holds to record for each lock name. Default: that of the profile in the configuration file,
   * then 0.
   */
  readonly record?: number;
  /**
   * Number that precedes all fencing tokens. An operator raises it when the store was restored from a snapshot.
   * Default: that of the profile in the configuration file, then 0.
   */
  readonly epoch?: number;
  /** Whether to print to stderr those errors of the client that interrupt neither a hold nor a wait. */
  readonly reportsErrors?: true;
  /**
   * Returns the client's backend wrapped in one that intercepts its calls. Default: the backend is not
   * wrapped.
   */
  readonly wrapBackend?: (backend: Backend) => Backend;
}

interface OpenedClient {
  readonly client: LockClient;
  /** The backend of the client. The client closes it. */
  readonly backend: Backend;
  readonly ttlMs: number;
  readonly epoch: number;
}

/** The client and the output that a command works with. */
export interface CommandContext extends OpenedClient {
  /**
   * The request for an orderly stop of the command. The first SIGINT, SIGTERM or SIGHUP makes it, and so does
   * another program that closes the pipe of the output.
   */
  readonly stop: Stop;
  /** Writes lines to standard output. */
  readonly lines: LineWriter;
}

/**
 * Runs a command with a client, and closes the client however the command ends: done, failed, stopped by a
 * signal, or because the reader of its output has closed it. No entry of the client stays in a queue. If the
 * server cannot be reached, the TTL removes the entries.
 * @returns the exit code for the signal or the closed output that stopped the command; otherwise the result
 *   of `work`
 */
export async function withClient(
  options: ClientOptions,
  work: (surroundings: CommandContext) => Promise<number>,
): Promise<number> {
  const stop = stopOnSignals();
  let lines: LineWriter | undefined;
  const opened = await openClient(options);
  const errors = options.reportsErrors && noteErrors(opened.client);
  try {
    const exitCode = await work({
      ...opened,
      stop,
      // Standard output is opened on first use. A `queuelock` command that runs a program does not use it,
      // because that program writes there.
      get lines() {
        return (lines ??= lineWriter(process.stdout, () => {
          stop.request(readerClosed());
        }));
      },
    });
    return stop.exitCode ?? exitCode;
  } catch (error) {
    if (stop.exitCode !== undefined && error === stop.signal.reason) return stop.exitCode;
    throw error;
  } finally {
    await opened.client.close();
    errors?.unsubscribe();
    await lines?.flushed();
  }
}

/** Makes a client for the store that the options select. It is not connected yet. */
async function openClient({
  ttl,
  id,
  epoch,
  record,
  mayOutlive,
  wrapBackend = (backend) => backend,
  ...options
}: ClientOptions): Promise<OpenedClient> {
  const place = selectStore(options);
  const backend = wrapBackend(await backendFromUrl(place.url, mayOutlive ? { mayOutlive } : {}));
  try {
    const ttlMs = ttlOf(backend, ttl ?? place.ttl);
    const recordHolds = record ?? place.record ?? 0;
    const client = createLockClient(backend, {
      ttlMs,
      recordHolds,
      ...(id === undefined ? {} : { owner: id }),
    });
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
  const min = String(Math.ceil(minTtlMs / 1000));
  const why = minTtlRule === undefined ? '' : `: ${minTtlRule}`;
  const message = `--ttl ${String(ttlMs / 1000)} is too short: ${name} needs at least ${min} seconds${why}`;
  throw new Failure(message, { exitCode: EXIT.usage });
}
