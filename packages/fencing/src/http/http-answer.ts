import { QueueLockError } from '@queuelock/core/backend';
import { nameOf, type FencingHold } from '../hold.ts';
import type { FenceOutcome } from '../outcome.ts';
import { FENCING_TOKEN, parseToken, printToken } from './headers.ts';

/** What a gate said to the sender of a request. */
export type HttpAnswer =
  | FenceOutcome
  /** Something between took the headers away, or changed them; or the receiver guards this with another lock. */
  | { readonly outcome: 'missing' | 'malformed'; readonly reason: string };

/** What of a `Response` is read. */
type Answered = Pick<Response, 'ok' | 'status' | 'headers'>;

/**
 * What the receiver of a request with `fencingHeaders` answered, for `expectAccepted`: `fetch` resolves with refusals too. Accepted is
 * what ended well (2xx). The body is left to you.
 * @throws {QueueLockError} `UNAVAILABLE` for what is no answer of the gate: whether the receiver wrote is unknown.
 */
export async function httpAnswer(
  hold: FencingHold<'name' | 'token'>,
  response: Answered | PromiseLike<Answered>,
): Promise<HttpAnswer> {
  const { ok, status, headers } = await response;
  if (ok) return { outcome: 'accepted' };
  const refused = `${nameOf(hold)} is refused by the receiver`;
  if (status === 428) return { outcome: 'missing', reason: `${refused}: no token reached it (428)` };
  if (status === 400) {
    return { outcome: 'malformed', reason: `${refused}: it takes the request for malformed (400)` };
  }
  const largest = status === 412 ? parseToken(headers.get(FENCING_TOKEN) ?? '') : undefined;
  if (largest === undefined) {
    throw new QueueLockError(
      'UNAVAILABLE',
      `the receiver answered ${String(status)} to ${nameOf(hold)}: whether it wrote is unknown`,
    );
  }
  const reason = `${refused}: a later holder was there, with token ${printToken(largest)}`;
  // Of another epoch it does not compare with the own one.
  if (largest.epoch > 0) return { outcome: 'refused', reason };
  return { outcome: 'refused', largest: largest.token, reason };
}
