import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { checkEpoch, type EpochToken } from '../epoch.ts';
import { checkName, isLockName, MAX_UINT64, tokenOf, type FencingHold } from '../hold.ts';

/** The name of the header that carries the lock's name, percent-encoded. */
export const FENCING_NAME = 'fencing-name';
/** The name of the header that carries the token as a decimal number. An epoch other than 0 follows it: `1042` or `1042;epoch=3`. */
export const FENCING_TOKEN = 'fencing-token';

/** Returns the value of a header, ignoring the case of its name: `(name) => headers.get(name)`, or `(name) => req.headers[name]`. */
export type HeaderGetter = (name: string) => string | readonly string[] | null | undefined;

/** Options of {@link fencingHeaders}. */
export interface FencingHeaderOptions {
  /** The epoch of the store, the same for all clients; see {@link EpochToken}. Default 0. */
  readonly epoch?: number;
}

/** The hold that a request names in its headers. */
export interface FencingClaim extends EpochToken {
  readonly name: string;
}

/** The reason why a request has no valid hold, with the HTTP status to send. */
export type FencingFault =
  /** The request has no fencing headers. */
  | { readonly outcome: 'missing'; readonly status: 428; readonly reason: string }
  /** The fencing headers of the request cannot be parsed, or they name a lock that does not guard the resource. */
  | { readonly outcome: 'malformed'; readonly status: 400; readonly reason: string };

const OPTIONS: KnownOptions<FencingHeaderOptions> = { epoch: 'any' };
const TOKEN = /^([1-9][0-9]{0,19})(?:;epoch=(0|[1-9][0-9]{0,15}))?$/;

/**
 * Returns the headers to send with every request under the lock: `fetch(url, { headers: fencingHeaders(ownership) })`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the hold or the epoch is invalid
 */
export function fencingHeaders(
  hold: FencingHold<'name' | 'token'>,
  options?: FencingHeaderOptions,
): Record<typeof FENCING_NAME | typeof FENCING_TOKEN, string> {
  const { epoch = 0 } = checkedOptions('options of fencingHeaders', options, OPTIONS);
  const token = tokenOf(hold, MAX_UINT64);
  return {
    [FENCING_NAME]: encodeURIComponent(checkName(hold.name)),
    [FENCING_TOKEN]: printToken({ epoch: checkEpoch(epoch), token }),
  };
}

/** Formats a token and its epoch as the value of the header `fencing-token`. */
export function printToken({ epoch, token }: EpochToken): string {
  return epoch === 0 ? String(token) : `${String(token)};epoch=${String(epoch)}`;
}

/** Reads the two fencing headers of a request. Never throws for any value that a sender can write. */
export function readFencingHeaders(header: HeaderGetter): FencingClaim | FencingFault {
  const [encoded, token] = [header(FENCING_NAME) ?? undefined, header(FENCING_TOKEN) ?? undefined];
  if (encoded === undefined && token === undefined) {
    return {
      outcome: 'missing',
      status: 428,
      reason: `the request needs the headers ${FENCING_NAME} and ${FENCING_TOKEN}`,
    };
  }
  const at = typeof token === 'string' ? parseToken(token) : undefined;
  if (at === undefined)
    return malformed(`${FENCING_TOKEN} must be one number below 2^64, followed by ";epoch=N" if N > 0`);
  const name = typeof encoded === 'string' ? decodeName(encoded) : undefined;
  if (name === undefined)
    return malformed(`${FENCING_NAME} must be one percent-encoded name of 1 to 512 bytes`);
  return { name, ...at };
}

/** Returns the reason of a refusal for a request whose headers are invalid. */
export function malformed(reason: string): FencingFault {
  return { outcome: 'malformed', status: 400, reason };
}

/** Parses the value of the header `fencing-token`. Returns `undefined` when it is malformed. */
export function parseToken(text: string): EpochToken | undefined {
  const [, digits, epochDigits = '0'] = TOKEN.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const [token, epoch] = [BigInt(digits), Number(epochDigits)];
  return token <= MAX_UINT64 && Number.isSafeInteger(epoch) ? { epoch, token } : undefined;
}

// Accepts only what encodeURIComponent produces, so that each name has exactly one encoding.
function decodeName(encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    return isLockName(name) && encodeURIComponent(name) === encoded ? name : undefined;
  } catch {
    return undefined;
  }
}
