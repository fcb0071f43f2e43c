/** Checks that a queue's naming supports what is requested. */
import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';
import type { Scheme } from './naming.ts';

/**
 * Checks that other clients of a queue with this naming understand the entry.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if they would not
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
 * Checks that the values of entries may change in a queue with this naming.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if they must not
 */
export function checkChange({ naming, keepsValues }: Scheme): void {
  if (!keepsValues) return;
  const rule = `must not change in a queue with naming ${naming}: the waiter behind sets one watch, a change would use it up, and the waiter would never wake`;
  throw invalidArgument('value', 'another one', rule);
}

/**
 * Checks that a holder may become a reader in a queue with this naming.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the naming has no readers or its values must not change
 */
export function checkShare(scheme: Scheme): void {
  checkChange(scheme);
  if (scheme.shared !== undefined) return;
  throw invalidArgument(
    'downgrade',
    'a call',
    `is not possible in a queue with naming ${scheme.naming}, which has no readers`,
  );
}
