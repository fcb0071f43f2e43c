import { expect } from 'chai';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Http2Call } from '../src/wire/http2-call.ts';
import type { Http2Link } from '../src/wire/http2-link.ts';

/** A stream whose data may arrive ahead of the headers, as on Deno 2. Node never does that. */
class EarlyStream extends Readable {
  constructor() {
    super({ autoDestroy: false });
  }

  override _read(): void {
    // Data is pushed by the test.
  }
}

interface Call {
  readonly stream: EarlyStream;
  readonly events: unknown[];
}

function callOver(stream: EarlyStream, isUnary = false): Call {
  const events: unknown[] = [];
  const link = { request: () => stream, closed: () => undefined } as unknown as Http2Link;
  void new Http2Call(
    link,
    { headers: {}, isUnary },
    {
      onMessage: (message) => events.push([...message]),
      onEnd: (error) => events.push(error ?? 'ended'),
    },
  );
  return { stream, events };
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const SUCCESS = { 'grpc-status': '0' };

describe('a call over HTTP/2', () => {
  it('delivers messages that arrived ahead of the headers, in their order', async () => {
    const { stream, events } = callOver(new EarlyStream());
    stream.push(Buffer.from([0, 0, 0, 0, 1, 7, 0]));
    stream.push(Buffer.from([0, 0, 0, 1, 8]));
    expect(events, 'before the headers').to.deep.equal([]);
    stream.emit('response', GRPC, 4);
    stream.push(Buffer.from([0, 0, 0, 0, 1, 9]));
    stream.push(null);
    await once(stream, 'end');
    stream.emit('trailers', SUCCESS);
    expect(events).to.deep.equal([[7], [8], [9], 'ended']);
  });

  it('reads a response that arrived with its headers without a listener for its data', async () => {
    const { stream, events } = callOver(new EarlyStream(), true);
    stream.push(Buffer.from([0, 0, 0, 0, 1, 7]));
    stream.emit('response', GRPC, 4);
    expect(events).to.deep.equal([[7]]);
    expect(stream.listenerCount('data')).to.equal(0);
    stream.emit('trailers', SUCCESS);
    expect(events).to.deep.equal([[7], 'ended']);
    // Without its end, the stream would never be freed.
    stream.push(null);
    stream.read(0);
    await once(stream, 'end');
  });

  it('reads what follows such a response before it ends', async () => {
    const { stream, events } = callOver(new EarlyStream(), true);
    stream.push(Buffer.from([0, 0, 0, 0, 1, 7]));
    stream.emit('response', GRPC, 4);
    stream.push(Buffer.from([0, 0, 0, 0, 1, 8]));
    stream.emit('trailers', SUCCESS);
    expect(events).to.deep.equal([[7], [8], 'ended']);
    stream.push(null);
    stream.read(0);
    await once(stream, 'end');
  });

  it('reads a response of which a part arrives after its headers', async () => {
    const { stream, events } = callOver(new EarlyStream(), true);
    stream.push(Buffer.from([0, 0, 0]));
    stream.emit('response', GRPC, 4);
    stream.push(Buffer.from([0, 1, 7]));
    stream.push(null);
    await once(stream, 'end');
    stream.emit('trailers', SUCCESS);
    expect(events).to.deep.equal([[7], 'ended']);
  });

  it('does not deliver messages when the headers are those of another protocol', () => {
    const { stream, events } = callOver(new EarlyStream());
    stream.push(Buffer.from([0, 0, 0, 0, 1, 7]));
    stream.emit('response', { ':status': 200, 'content-type': 'text/html' }, 4);
    expect(events).to.deep.equal([]);
  });
});
