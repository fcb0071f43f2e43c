import { QueueLockError } from '@queuelock/core/backend';
import { describeHold, type FencingHold } from '../hold.ts';
import type { FenceOutcome } from '../outcome.ts';
import { FENCING_TOKEN, parseToken, printToken } from './headers.ts';

/** The outcome of a request that a gate checked, on the sender's side. */
export type HttpOutcome =
  | FenceOutcome
  /** The fencing headers are missing or malformed: an intermediary changed them, or another lock guards the resource of the receiver. */
  | { readonly outcome: 'missing' | 'malformed'; readonly reason: string };

/** The properties of a `Response` that this package reads. */
type ResponseHead = Pick<Response, 'ok' | 'status' | 'headers'>;

/**
 * Converts the response to a request with `fencingHeaders` into an outcome for `expectAccepted`, because `fetch` also resolves with
 * refusals. Every 2xx status counts as accepted. The body is not read.
 * @throws {QueueLockError} `UNAVAILABLE` for a response that no gate sends. It is unknown whether the receiver wrote.
 */
export async function httpOutcome(
  hold: FencingHold<'name' | 'token'>,
  response: ResponseHead | PromiseLike<ResponseHead>,
): Promise<HttpOutcome> {
  const { ok, status, headers } = await response;
  if (ok) return { outcome: 'accepted' };
  const refused = `${describeHold(hold)} is refused by the receiver`;
  if (status === 428) return { outcome: 'missing', reason: `${refused}: no token reached it (428)` };
  if (status === 400) {
    return { outcome: 'malformed', reason: `${refused}: the request is malformed (400)` };
  }
  const largest = status === 412 ? parseToken(headers.get(FENCING_TOKEN) ?? '') : undefined;
  if (largest === undefined) {
    throw new QueueLockError(
      'UNAVAILABLE',
      `the receiver responded with ${String(status)} to ${describeHold(hold)}: it is unknown whether it wrote`,
    );
  }
  const reason = `${refused}: a later holder sent a request before, with token ${printToken(largest)}`;
  // Omits a token with an epoch from the outcome, because callers could not compare it with their own token.
  if (largest.epoch > 0) return { outcome: 'refused', reason };
  return { outcome: 'refused', largest: largest.token, reason };
}
