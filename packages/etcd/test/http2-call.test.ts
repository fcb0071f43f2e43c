import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { Http2Call } from '../src/wire/http2-call.ts';
import type { Http2Link } from '../src/wire/http2-link.ts';

/** A stream of a runtime that emits data ahead of the headers, which Node never does. */
class EarlyStream extends EventEmitter {
  readonly readableLength = 0;
}

function linkOver(stream: EarlyStream): Http2Link {
  return { request: () => stream } as unknown as Http2Link;
}

describe('a call over HTTP/2', () => {
  it('delivers messages that a runtime emits ahead of the headers, in their order', () => {
    const stream = new EarlyStream();
    const events: unknown[] = [];
    void new Http2Call(
      linkOver(stream),
      {},
      {
        onMessage: (message) => events.push([...message]),
        onEnd: (error) => events.push(error ?? 'ended'),
      },
    );
    stream.emit('data', Buffer.from([0, 0, 0, 0, 1, 7, 0]));
    stream.emit('data', Buffer.from([0, 0, 0, 1, 8]));
    expect(events, 'before the headers').to.deep.equal([]);
    stream.emit('response', { ':status': 200, 'content-type': 'application/grpc' }, 4);
    stream.emit('data', Buffer.from([0, 0, 0, 0, 1, 9]));
    stream.emit('trailers', { 'grpc-status': '0' });
    expect(events).to.deep.equal([[7], [8], [9], 'ended']);
  });

  it('does not deliver messages when the headers are those of another protocol', () => {
    const stream = new EarlyStream();
    const events: unknown[] = [];
    void new Http2Call(
      linkOver(stream),
      {},
      {
        onMessage: (message) => events.push([...message]),
        onEnd: (error) => events.push(error),
      },
    );
    stream.emit('data', Buffer.from([0, 0, 0, 0, 1, 7]));
    stream.emit('response', { ':status': 200, 'content-type': 'text/html' }, 4);
    expect(events).to.deep.equal([]);
  });
});
