import { bodyOf, checked } from './body.ts';
import { streamRequestSchema, type StreamRequest } from './wire.ts';

const WITH_NAME = new Set(['queue', 'timeline', 'election']);

/**
 * What a stream is asked for: by the body of a POST, or by the address of a GET (`?queue=NAME&queues=PREFIX`, as `EventSource` and curl can
 * do it), where `Last-Event-ID` says of everything what is known.
 * @throws {Refused}
 */
export function streamOrderOf(request: Request): Promise<StreamRequest> {
  if (request.method === 'POST') return bodyOf(request, streamRequestSchema);
  const since = request.headers.get('last-event-id');
  const topics = [...new URL(request.url).searchParams].map(([kind, value]) => ({
    topic: WITH_NAME.has(kind) ? { kind, name: value } : { kind, prefix: value },
    ...(since === null ? {} : { since }),
  }));
  return Promise.resolve().then(() => checked({ topics }, streamRequestSchema));
}
