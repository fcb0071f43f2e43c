import { invalidArgument } from '@queuelock/core/backend';
import type { SessionKey } from '../driver/driver.ts';

/** What it takes to go on with a session, and the time to live that it had. */
export interface Resumption {
  readonly session: SessionKey;
  readonly ttlMs: number;
}

/** As a text for another process. Whoever has it can act as the session, and end it: a secret. */
export function resumptionText({ session, ttlMs }: Resumption): string {
  return JSON.stringify({ session: session.client_id, password: session.client_password, ttlMs });
}

/** @throws {QueueLockError} `INVALID_ARGUMENT`, without the text */
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
  throw refusal();
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw refusal();
}

function refusal(): Error {
  return invalidArgument(
    'resumption',
    '(a secret)',
    'is the text that a session on ZooKeeper gave as its resumption',
  );
}
