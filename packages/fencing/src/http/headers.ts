import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { checkEpoch, type EpochToken } from '../epoch.ts';
import { checkName, isLockName, MAX_UINT64, tokenOf, type FencingHold } from '../hold.ts';

/** The lock's name, percent-encoded. */
export const FENCING_NAME = 'fencing-name';
/** The token as a decimal number, with the epoch behind it unless that is 0: `1042` or `1042;epoch=3`. */
export const FENCING_TOKEN = 'fencing-token';

/** Looks up a header, without regard to case: `(name) => headers.get(name)`, or `(name) => req.headers[name]`. */
export type HeaderGetter = (name: string) => string | readonly string[] | null | undefined;

/** Settings of {@link fencingHeaders}. */
export interface FencingHeaderOptions {
  /** See {@link EpochToken}; the same for all clients. Default 0. */
  readonly epoch?: number;
}

/** What a request says about its sender's hold. */
export interface FencingClaim extends EpochToken {
  readonly name: string;
}

/** What is wrong with a request, as a status of HTTP and a reason. */
export type FencingFault =
  /** It says nothing about a hold. */
  | { readonly outcome: 'missing'; readonly status: 428; readonly reason: string }
  /** It says something that is no hold, or one of a lock that does not guard this resource. */
  | { readonly outcome: 'malformed'; readonly status: 400; readonly reason: string };

const OPTIONS: KnownOptions<FencingHeaderOptions> = { epoch: 'any' };
const TOKEN = /^([1-9][0-9]{0,19})(?:;epoch=(0|[1-9][0-9]{0,15}))?$/;

/** The headers to send with every request under the lock: `fetch(url, { headers: fencingHeaders(ownership) })`. */
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

/** As it stands in the header. */
export function printToken({ epoch, token }: EpochToken): string {
  return epoch === 0 ? String(token) : `${String(token)};epoch=${String(epoch)}`;
}

/** Reads the pair of headers of a request. Never throws on what a sender can write. */
export function readFencingHeaders(header: HeaderGetter): FencingClaim | FencingFault {
  const [encoded, token] = [header(FENCING_NAME) ?? undefined, header(FENCING_TOKEN) ?? undefined];
  if (encoded === undefined && token === undefined) {
    return {
      outcome: 'missing',
      status: 428,
      reason: `this resource takes requests with ${FENCING_NAME} and ${FENCING_TOKEN} only`,
    };
  }
  const at = typeof token === 'string' ? parseToken(token) : undefined;
  if (at === undefined)
    return malformed(`${FENCING_TOKEN} is one number below 2^64, then ";epoch=N" if N > 0`);
  const name = typeof encoded === 'string' ? decodeName(encoded) : undefined;
  if (name === undefined) return malformed(`${FENCING_NAME} is one percent-encoded name of 1 to 512 bytes`);
  return { name, ...at };
}

/** For a request whose headers say something wrong. */
export function malformed(reason: string): FencingFault {
  return { outcome: 'malformed', status: 400, reason };
}

/** A token as it stands in the header. */
export function parseToken(text: string): EpochToken | undefined {
  const [, digits, epochDigits = '0'] = TOKEN.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const [token, epoch] = [BigInt(digits), Number(epochDigits)];
  return token <= MAX_UINT64 && Number.isSafeInteger(epoch) ? { epoch, token } : undefined;
}

// What encodeURIComponent writes and nothing else, so that a name has one form.
function decodeName(encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    return isLockName(name) && encodeURIComponent(name) === encoded ? name : undefined;
  } catch {
    return undefined;
  }
}
