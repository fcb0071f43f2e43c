import { QueueLockError } from '@queuelock/core/backend';

/** What another process needs to resume a session. It is no secret: any client that may write to the key/value store can end any session. */
export interface Resumption {
  readonly session: string;
  readonly ttlMs: number;
}

const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d{1,10})$/;

/** Returns the text of a resumption. */
export function writeResumption({ session, ttlMs }: Resumption): string {
  return `${session}/${ttlMs}`;
}

/**
 * Reads a resumption. @throws {QueueLockError} `INVALID_ARGUMENT`, whose message does not contain the text, since it may be the secret of another
 * backend
 */
export function readResumption(text: string): Resumption {
  const [, session, ttlMs] = FORM.exec(text) ?? [];
  if (session === undefined || Number(ttlMs) === 0)
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      'resumption is the text that exportSession() returned for a session on Consul',
    );
  return { session, ttlMs: Number(ttlMs) };
}
