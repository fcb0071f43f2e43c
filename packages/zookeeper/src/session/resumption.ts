import { invalidArgument } from '@queuelock/core/backend';
import type { SessionKey } from '../driver/driver.ts';

/** The key of a session and its TTL, which another process needs to resume it. */
export interface Resumption {
  readonly session: SessionKey;
  readonly ttlMs: number;
}

/** Formats an exported session as text for another process. The text is a secret: with it, a process can act as the session, and end it. */
export function resumptionText({ session, ttlMs }: Resumption): string {
  return JSON.stringify({ session: session.client_id, password: session.client_password, ttlMs });
}

/**
 * Parses the text of an exported session.
 * @throws {QueueLockError} `INVALID_ARGUMENT`, without the text, when it is invalid
 */
export function parseResumption(text: string): Resumption {
  const { session, password, ttlMs } = fieldsOf(text);
  const isKey =
    typeof session === 'string' &&
    typeof password === 'string' &&
    /^[0-9a-f]{1,16}$/.test(session) &&
    /^[0-9a-f]{32}$/i.test(password);
  if (isKey && typeof ttlMs === 'number' && ttlMs > 0 && ttlMs < 2 ** 31) {
    return { session: { client_id: session, client_password: password }, ttlMs };
  }
  throw invalidResumption();
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  } catch {
    // For a text that is not valid JSON, the code after this block throws `INVALID_ARGUMENT`.
  }
  throw invalidResumption();
}

function invalidResumption(): Error {
  return invalidArgument(
    'resumption',
    '(a secret)',
    'is the text that exportSession() returned for a session on ZooKeeper',
  );
}
