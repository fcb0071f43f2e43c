import { invalidArgument } from '@queuelock/core/backend';
import { checkToken, MAX_UINT64 } from './hold.ts';

/**
 * A token and the life of the store that gave it. Tokens go back when a store is restored from an older snapshot or
 * moved to a new cluster; raise the epoch (of all clients) at each such event, and old tokens stay smaller.
 */
export interface EpochToken {
  /** A whole number from 0. */
  readonly epoch: number;
  readonly token: bigint;
}

const TOKEN_BITS = 56n;
const TOKEN_LIMIT = 1n << TOKEN_BITS;
/** What 63 bits leave for the epoch. */
const MAX_COLUMN_EPOCH = 127;

/** Below 0 if `a` is the older one, 0 if they are equal, above 0 if `a` is the newer one. The epoch decides first. */
export function compareEpochTokens(a: EpochToken, b: EpochToken): number {
  if (a.epoch !== b.epoch) return a.epoch < b.epoch ? -1 : 1;
  if (a.token === b.token) return 0;
  return a.token < b.token ? -1 : 1;
}

/**
 * Both in one signed column of 64 bits, in the same order: `epoch * 2^56 + token`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a token of 2^56 or more and an epoch above 127: use two columns then.
 */
export function encodeEpochToken({ epoch, token }: EpochToken): bigint {
  checkEpoch(epoch);
  checkToken(token, MAX_UINT64);
  if (epoch > MAX_COLUMN_EPOCH) {
    throw invalidArgument(
      'epoch',
      epoch,
      `is at most ${String(MAX_COLUMN_EPOCH)} in one column with the token`,
    );
  }
  if (token >= TOKEN_LIMIT) {
    throw invalidArgument('token', token, 'is below 2^56 in one column with the epoch: use two columns');
  }
  return (BigInt(epoch) << TOKEN_BITS) + token;
}

/** Undoes {@link encodeEpochToken}. */
export function decodeEpochToken(encoded: bigint): EpochToken {
  if (typeof encoded !== 'bigint' || encoded < 0n || encoded >> TOKEN_BITS > BigInt(MAX_COLUMN_EPOCH)) {
    throw invalidArgument('encoded', encoded, 'is what encodeEpochToken gave');
  }
  return { epoch: Number(encoded >> TOKEN_BITS), token: encoded % TOKEN_LIMIT };
}

/** The epoch, once it is sure to be one. */
export function checkEpoch(epoch: unknown): number {
  if (!Number.isSafeInteger(epoch) || (epoch as number) < 0) {
    throw invalidArgument('epoch', epoch, 'is a whole number from 0');
  }
  return epoch as number;
}
