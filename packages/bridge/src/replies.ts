import { Overloaded, statusOf, toWireError } from './refusal.ts';
import type { Refusal } from './wire.ts';

/** What every answer says: it is nobody else's to read, to keep, to frame or to guess the type of. */
const SECURITY = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** An answer in JSON. */
export function json(body: unknown, status = 200, more: Readonly<Record<string, string>> = {}): Response {
  const headers = { ...SECURITY, ...more, 'content-type': 'application/json; charset=utf-8' };
  return new Response(JSON.stringify(body), { status, headers });
}

/** An error as an answer. */
export function refusal(error: unknown): Response {
  const headers = error instanceof Overloaded ? { 'retry-after': String(error.retryAfterS) } : undefined;
  return json({ error: toWireError(error) } satisfies Refusal, statusOf(error), headers);
}

/** A stream of server-sent events as an answer. */
export function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: {
      ...SECURITY,
      'content-type': 'text/event-stream; charset=utf-8',
      // Nobody on the way may collect it, to compress it for instance.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  });
}
