import { invalidArgument } from '@queuelock/core/backend';
import { checkToken, MAX_UINT64 } from './hold.ts';

/**
 * A fencing token together with the epoch of the store that issued it. Tokens go backwards when a store is restored from an older snapshot
 * or moved to a new cluster. Raise the epoch of all clients at each such event, so that old tokens compare as smaller.
 */
export interface EpochToken {
  /** The epoch of the store: a whole number from 0. */
  readonly epoch: number;
  readonly token: bigint;
}

const TOKEN_BITS = 56n;
const TOKEN_LIMIT = 1n << TOKEN_BITS;
/** The largest epoch that fits into the 7 bits that a signed 64-bit column leaves beside the token. */
const MAX_COLUMN_EPOCH = 127;

/**
 * Compares two tokens, the epoch first.
 * @returns a number below 0 if `a` is older, 0 if they are equal, above 0 if `a` is newer
 */
export function compareEpochTokens(a: EpochToken, b: EpochToken): number {
  if (a.epoch !== b.epoch) return a.epoch < b.epoch ? -1 : 1;
  if (a.token === b.token) return 0;
  return a.token < b.token ? -1 : 1;
}

/**
 * Encodes epoch and token as one signed 64-bit number that sorts in the same order: `epoch * 2^56 + token`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a token of 2^56 or more, or an epoch above 127. Use two columns for those.
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

/**
 * Decodes a number that {@link encodeEpochToken} returned.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when `encoded` is not such a number
 */
export function decodeEpochToken(encoded: bigint): EpochToken {
  if (typeof encoded !== 'bigint' || encoded < 0n || encoded >> TOKEN_BITS > BigInt(MAX_COLUMN_EPOCH)) {
    throw invalidArgument('encoded', encoded, 'is a bigint that encodeEpochToken returned');
  }
  return { epoch: Number(encoded >> TOKEN_BITS), token: encoded % TOKEN_LIMIT };
}

/**
 * Returns the epoch of a store after checking it.
 * @throws {QueueLockError} `INVALID_ARGUMENT` unless it is a whole number from 0
 */
export function checkEpoch(epoch: unknown): number {
  if (!Number.isSafeInteger(epoch) || (epoch as number) < 0) {
    throw invalidArgument('epoch', epoch, 'is a whole number from 0');
  }
  return epoch as number;
}
