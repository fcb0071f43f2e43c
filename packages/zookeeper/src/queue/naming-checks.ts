/** What cannot be asked of the entries of a naming. */
import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';
import type { Scheme } from './naming.ts';

/** @throws {QueueLockError} `INVALID_ARGUMENT` for an entry that others in such a queue would not understand. */
export function checkSpec({ shared, limit, permits = 1 }: EntrySpec, { naming, ...scheme }: Scheme): void {
  if (shared && scheme.shared === undefined) {
    throw invalidArgument(
      'mode',
      'shared',
      `is exclusive in a queue with naming ${naming}, which has no readers`,
    );
  }
  if (scheme.countsAll && permits !== 1) {
    throw invalidArgument('permits', permits, `is 1 in a queue with naming ${naming}: others count nodes`);
  }
  if (scheme.idIsInText && limit !== 1) {
    throw invalidArgument('limit', limit, `is 1 in a queue with naming ${naming}, which is for locks only`);
  }
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkChange({ naming, keepsValues }: Scheme): void {
  if (!keepsValues) return;
  const rule = `stays as it is in a queue with naming ${naming}: a change uses up the one watch of who waits behind, who would never wake`;
  throw invalidArgument('value', 'another one', rule);
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkShare(scheme: Scheme): void {
  checkChange(scheme);
  if (scheme.shared !== undefined) return;
  throw invalidArgument(
    'downgrade',
    'a call of it',
    `is not there in a queue with naming ${scheme.naming}, which has no readers`,
  );
}
