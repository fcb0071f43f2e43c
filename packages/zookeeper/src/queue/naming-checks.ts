/** Checks that a queue's naming supports what is requested. */
import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';
import type { Scheme } from './naming.ts';

/**
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an entry that other clients of a queue with this naming
 *   would not understand.
 */
export function checkSpec({ shared, limit, permits = 1 }: EntrySpec, { naming, ...scheme }: Scheme): void {
  if (shared && scheme.shared === undefined) {
    throw invalidArgument(
      'mode',
      'shared',
      `is exclusive in a queue with naming ${naming}, which has no readers`,
    );
  }
  if (scheme.countsAll && permits !== 1) {
    throw invalidArgument(
      'permits',
      permits,
      `is 1 in a queue with naming ${naming}: other clients count nodes`,
    );
  }
  if (scheme.idIsInText && limit !== 1) {
    throw invalidArgument('limit', limit, `is 1 in a queue with naming ${naming}, which is for locks only`);
  }
}

/**
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the values of entries must not change in a queue with this
 *   naming
 */
export function checkChange({ naming, keepsValues }: Scheme): void {
  if (!keepsValues) return;
  const rule = `must not change in a queue with naming ${naming}: the waiter behind sets one watch, a change would use it up, and the waiter would never wake`;
  throw invalidArgument('value', 'another one', rule);
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` when a queue with this naming has no readers */
export function checkShare(scheme: Scheme): void {
  checkChange(scheme);
  if (scheme.shared !== undefined) return;
  throw invalidArgument(
    'downgrade',
    'a call',
    `is not possible in a queue with naming ${scheme.naming}, which has no readers`,
  );
}
