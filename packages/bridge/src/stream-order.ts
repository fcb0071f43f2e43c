import { checked } from './body.ts';
import { streamRequestSchema, type StreamRequest } from './wire.ts';

const WITH_NAME = new Set(['queue', 'timeline', 'election']);

/**
 * What a stream is asked for by the address of a GET (`?queue=NAME&queues=PREFIX`, as `EventSource` and curl can do it), where `Last-Event-ID`
 * says of everything what is known.
 * @throws {Refused}
 */
export function streamOrderIn(request: Request): StreamRequest {
  const since = request.headers.get('last-event-id');
  const topics = [...new URL(request.url).searchParams].map(([kind, value]) => ({
    topic: WITH_NAME.has(kind) ? { kind, name: value } : { kind, prefix: value },
    ...(since === null ? {} : { since }),
  }));
  return checked({ topics }, streamRequestSchema);
}
