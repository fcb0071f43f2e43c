import { QueueLockError } from '@queuelock/core/backend';

/**
 * The data with which another process can resume a session. It is no secret on Consul: every client that may write to the key/value store can end any
 * session.
 */
export interface Resumption {
  readonly session: string;
  readonly ttlMs: number;
}

const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d{1,10})$/;

/** Formats as one text the data with which another process can resume a session. */
export function writeResumption({ session, ttlMs }: Resumption): string {
  return `${session}/${ttlMs}`;
}

/**
 * Parses the text with which a session is resumed.
 * @throws {QueueLockError} `INVALID_ARGUMENT`. The message does not contain the text, because it may be a secret of another backend
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
