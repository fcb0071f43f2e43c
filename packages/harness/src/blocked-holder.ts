// A process that holds a lock while its event loop is blocked. After the block it reports to the test at once whether it still holds the lock.

import { createLockClient } from '@queuelock/core';
import type { Backend } from '@queuelock/core/backend';

/** The options of this process, which it gets as JSON in its first argument. */
export interface BlockedHolderOptions {
  /** URL of the module whose export `backend` creates the backend. */
  readonly module: string;
  readonly backend: string;
  /** The argument with which this process creates the backend: options, or a URL. */
  readonly options: unknown;
  readonly name: string;
  readonly ttlMs: number;
  readonly maxBlockedMs: number;
  readonly blockMs: number;
  /** Whether the blocking code reads `held` every 2 ms. If `false`, it occupies the processor for up to 10 s, and then sleeps. */
  readonly reads: boolean;
}

/** The messages that this process sends to the test. */
export type BlockedHolderReport =
  | { readonly type: 'blocks' }
  | {
      readonly type: 'ran';
      /** Value of `held`, read in the first statement after the block. */
      readonly held: boolean;
      /**
       * Value of `held` after the event loop has run for one TTL since the block. If the lock was lost at the
       * end of the block, `held` is read again without that wait.
       */
      readonly heldLater: boolean;
      /** Time of the last read of `held` that returned `true`, in milliseconds of the machine's monotonic clock. */
      readonly lastHeldMs: number;
      readonly errors: readonly string[];
      readonly reason: string | undefined;
    };

/** Returns the time of the machine's monotonic clock in milliseconds, which all its processes can compare. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

// How long the event loop runs between the grant and the block, in milliseconds. A busy machine needs seconds to
// start the heartbeat thread.
const RUN_MS = 3_000;
const COMPUTE_MS = 10_000;

const [, , argument] = process.argv;
if (process.send && argument !== undefined) await hold(JSON.parse(argument) as BlockedHolderOptions);

async function hold(settings: BlockedHolderOptions): Promise<void> {
  const { module, backend, options, name, ttlMs, maxBlockedMs } = settings;
  const backends = (await import(module)) as Record<string, (options: unknown) => Backend | Promise<Backend>>;
  const locks = createLockClient(await backends[backend]!(options), { ttlMs, maxBlockedMs });
  const errors: string[] = [];
  void locks.errors$.forEach(({ message }) => errors.push(message));
  const ownership = await locks.acquire(name);
  await pass(RUN_MS);
  await report({ type: 'blocks' });
  const lastHeldMs = block(settings, () => ownership.held);
  const held = ownership.held;
  await pass(held ? ttlMs : 0);
  const { aborted } = ownership.signal;
  const reason: unknown = ownership.signal.reason;
  await report({
    type: 'ran',
    held,
    heldLater: ownership.held,
    lastHeldMs,
    errors,
    reason: aborted ? String(reason) : undefined,
  });
  await ownership.release();
  await locks.close();
  process.disconnect();
}

/**
 * Blocks the event loop. Returns the time at which `isHeld` last returned `true`, or else the beginning of
 * the block, in milliseconds of the machine's monotonic clock.
 */
function block(
  { blockMs, reads }: Pick<BlockedHolderOptions, 'blockMs' | 'reads'>,
  isHeld: () => boolean,
): number {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const began = machineMs();
  let lastHeldMs = began;
  while (machineMs() - began < blockMs) {
    const now = machineMs();
    if (reads && isHeld()) lastHeldMs = now;
    if (reads || now - began >= COMPUTE_MS) Atomics.wait(cell, 0, 0, 2);
  }
  return lastHeldMs;
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function report(message: BlockedHolderReport): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}
