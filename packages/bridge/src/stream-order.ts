import { checked } from './body.ts';
import { streamRequestSchema, type StreamRequest } from './wire.ts';

const WITH_NAME = new Set(['queue', 'timeline', 'record', 'election']);

/**
 * Reads the topics from the address of a GET (`?queue=NAME&queues=PREFIX`), which `EventSource` and curl can
 * send. The header `Last-Event-ID` is the id of the latest event that the client has received, and applies to
 * every topic.
 * @throws {Refused} 400 when the address is not valid.
 */
export function streamOrderIn(request: Request): StreamRequest {
  const since = request.headers.get('last-event-id');
  const topics = [...new URL(request.url).searchParams].map(([kind, value]) => ({
    topic: WITH_NAME.has(kind) ? { kind, name: value } : { kind, prefix: value },
    ...(since === null ? {} : { since }),
  }));
  return checked({ topics }, streamRequestSchema);
}
