import { expect } from 'chai';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Http2Call } from '../src/wire/http2-call.ts';
import type { Http2Link } from '../src/wire/http2-link.ts';

/** A fake stream whose data may arrive before the headers, as on Deno 2. On Node that never happens. */
class EarlyStream extends Readable {
  constructor() {
    super({ autoDestroy: false });
  }

  override _read(): void {
    // Does nothing, since the test itself pushes the data into the stream.
  }
}

interface Call {
  readonly stream: EarlyStream;
  readonly events: unknown[];
  readonly call: Http2Call;
}

function callOver(stream: EarlyStream, readsAtEnd = false): Call {
  const events: unknown[] = [];
  const link = { request: () => stream, closed: () => undefined } as unknown as Http2Link;
  const listener = {
    onMessage: (message: Buffer) => events.push([...message]),
    onEnd: (error: unknown) => events.push(error ?? 'ended'),
  };
  return { stream, events, call: new Http2Call(link, { headers: {}, readsAtEnd }, listener) };
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const SUCCESS = { 'grpc-status': '0' };

describe('a call over HTTP/2', () => {
  it('delivers messages in order, also those that arrived before the headers', async () => {
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

  it('adds no listener for data when it reads its response only at the end', async () => {
    const { stream, events } = callOver(new EarlyStream(), true);
    stream.emit('response', GRPC, 4);
    stream.push(Buffer.from([0, 0, 0, 0, 1]));
    stream.push(Buffer.from([7, 0, 0, 0, 0, 1, 8]));
    expect(events).to.deep.equal([]);
    stream.emit('trailers', SUCCESS);
    expect(events).to.deep.equal([[7], [8], 'ended']);
    expect(stream.listenerCount('data')).to.equal(0);
    // Ends the stream and reads its end, since Node would otherwise never free it.
    stream.push(null);
    stream.read(0);
    await once(stream, 'end');
  });

  it('waits for data that arrives after the last headers when it reads its response at the end', async () => {
    const { stream, events } = callOver(new EarlyStream(), true);
    stream.emit('response', GRPC, 4);
    stream.push(Buffer.from([0, 0, 0, 0, 1]));
    stream.emit('trailers', SUCCESS);
    stream.push(Buffer.from([7]));
    stream.push(null);
    await once(stream, 'end');
    expect(events).to.deep.equal([[7], 'ended']);
  });

  it('starts to read before the end of its response when the caller calls readNow()', async () => {
    const { stream, events, call } = callOver(new EarlyStream(), true);
    call.readNow();
    stream.push(Buffer.from([0, 0, 0, 0, 1, 7]));
    stream.emit('response', GRPC, 4);
    call.readNow();
    await once(stream, 'data');
    expect(events).to.deep.equal([[7]]);
    expect(stream.listenerCount('data'), 'of the call').to.equal(1);
  });

  it('delivers no messages when the headers are not those of gRPC', () => {
    const { stream, events } = callOver(new EarlyStream());
    stream.push(Buffer.from([0, 0, 0, 0, 1, 7]));
    stream.emit('response', { ':status': 200, 'content-type': 'text/html' }, 4);
    expect(events).to.deep.equal([]);
  });
});
