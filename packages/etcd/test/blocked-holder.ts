// A process that holds a lock while its event loop is blocked. After the block it reports at once whether it still holds the lock.

import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';

/** The options of this process, which it gets as JSON in its first argument. */
export interface BlockedHolderOptions {
  readonly host: string;
  readonly name: string;
  readonly ttlMs: number;
  readonly maxBlockedMs: number;
  readonly blockMs: number;
  /** How long the event loop runs between the grant and the block, in milliseconds. Default 1,000. */
  readonly runMs?: number;
}

/** The messages that this process sends to the test. */
export type BlockedHolderReport =
  | { readonly type: 'blocks' }
  | {
      readonly type: 'ran';
      /** The value of `held` in the first statement after the block. */
      readonly held: boolean;
      /** The value of `held` when the event loop has run for another TTL. */
      readonly heldLater: boolean;
      readonly errors: readonly string[];
      readonly reason: string | undefined;
    };

const options = JSON.parse(process.argv[2] ?? '') as BlockedHolderOptions;
const { host, name, ttlMs, maxBlockedMs, blockMs, runMs = 1_000 } = options;
const locks = createLockClient(etcd({ hosts: [host] }), { ttlMs, maxBlockedMs });
const errors: string[] = [];
locks.errors$.subscribe((error) => errors.push(error.message));
const ownership = await locks.acquire(name);
await pass(runMs);
await report({ type: 'blocks' });
const end = performance.now() + blockMs;
while (performance.now() < end);
const held = ownership.held;
await pass(held ? ttlMs : 0);
const { aborted } = ownership.signal;
const reason: unknown = ownership.signal.reason;
await report({
  type: 'ran',
  held,
  heldLater: ownership.held,
  errors,
  reason: aborted ? String(reason) : undefined,
});
await ownership.release();
await locks.close();
process.disconnect();

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function report(message: BlockedHolderReport): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}
