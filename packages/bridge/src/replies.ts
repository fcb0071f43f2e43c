import { Overloaded, statusOf, toWireError } from './refusal.ts';
import type { Refusal } from './wire.ts';

/**
 * Headers of every response. They forbid other sites to read the response, caches to store it, pages to frame
 * it, and browsers to guess its type.
 */
const SECURITY = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Returns a JSON response. */
export function json(body: unknown, status = 200, more: Readonly<Record<string, string>> = {}): Response {
  const headers = { ...SECURITY, ...more, 'content-type': 'application/json; charset=utf-8' };
  return new Response(JSON.stringify(body), { status, headers });
}

/** Returns the response for an error. */
export function refusal(error: unknown): Response {
  const headers = error instanceof Overloaded ? { 'retry-after': String(error.retryAfterS) } : undefined;
  return json({ error: toWireError(error) } satisfies Refusal, statusOf(error), headers);
}

/** Returns the response for a stream of server-sent events. */
export function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: {
      ...SECURITY,
      'content-type': 'text/event-stream; charset=utf-8',
      // The headers `cache-control` and `x-accel-buffering` forbid proxies to buffer the stream, for instance
      // in order to compress it.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  });
}
