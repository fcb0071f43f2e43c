import { expect } from 'chai';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { serve, type Handler } from '../src/index.ts';
import { untilSo } from './stage.ts';

const MEGABYTE = new Uint8Array(1_048_576);

describe('the Node server of a handler', () => {
  it('reads the response body from the handler no faster than the connection accepts it', async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(MEGABYTE);
          if (pulls === 200) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    await using served = await serve({ handle: () => Promise.resolve(new Response(body)) });
    const socket = connect(served.port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    let [last, same] = [0, 0];
    await untilSo('nothing more is read', () => {
      same = pulls > 0 && pulls === last ? same + 1 : 0;
      last = pulls;
      return same > 20;
    });
    // The server may read some chunks of the response body ahead: as many as fit in the buffers of the
    // operating system.
    expect(pulls).to.be.below(50);
    socket.resume();
    await once(socket, 'close');
    expect(pulls).to.equal(200);
  });

  it('cancels the response body when the client has disconnected', async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(MEGABYTE.subarray(0, 10)),
      cancel: () => {
        isCancelled = true;
      },
    });
    await using served = await serve({ handle: () => Promise.resolve(new Response(body)) });
    const response = await fetch(served.url);
    await response.body!.cancel();
    await untilSo('it was told', () => isCancelled);
  });

  it('cuts the connection when the response body fails', async () => {
    let breakOff: (error: Error) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(MEGABYTE.subarray(0, 10));
        breakOff = (error) => controller.error(error);
      },
    });
    await using served = await serve({ handle: () => Promise.resolve(new Response(body)) });
    const response = await fetch(served.url);
    breakOff(new Error('stuck'));
    const error: unknown = await response.text().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TypeError);
  });

  it('closes connections beyond the limit of one address, and accepts new ones later', async () => {
    const handle = (): Promise<Response> => Promise.resolve(new Response('hello'));
    await using served = await serve({ handle, connectionsPerAddress: 2 });
    const open = (): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect(served.port, '127.0.0.1', () => resolve(socket));
        socket.on('error', () => undefined);
      });
    const kept = [await open(), await open()];
    const refused = await open();
    refused.resume();
    await once(refused, 'close');
    for (const socket of kept) socket.destroy();
    let text = '';
    await untilFetched(served.url, (body) => (text = body));
    expect(text).to.equal('hello');
  });

  it('passes the address of the peer to the handler', async () => {
    const addresses: unknown[] = [];
    const handle: Handler = (_, { remoteAddress }) => {
      addresses.push(remoteAddress);
      return Promise.resolve(new Response());
    };
    await using served = await serve({ handle });
    await fetch(served.url);
    expect(addresses).to.deep.equal(['127.0.0.1']);
  });

  it('closes the connection after the response when the client has not sent the whole request body', async () => {
    const handle = (): Promise<Response> => Promise.resolve(new Response('no', { status: 413 }));
    await using served = await serve({ handle });
    const socket = connect(served.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\nbeginning');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await once(socket, 'close');
    expect(text).to.match(/^HTTP\/1\.1 413 /);
    expect(text).to.match(/^connection: close\r$/im);
  });

  it('passes the headers and the body of a request to the handler', async () => {
    let aborted = false;
    const handle = async (request: Request): Promise<Response> => {
      request.signal.addEventListener('abort', () => (aborted = true));
      const { pathname, search } = new URL(request.url);
      return Response.json([
        request.method,
        pathname + search,
        request.headers.get('host'),
        await request.text(),
      ]);
    };
    await using served = await serve({ handle });
    const response = await fetch(`${served.url}/a/b?c=d`, { method: 'POST', body: 'hello' });
    expect(await response.json()).to.deep.equal([
      'POST',
      '/a/b?c=d',
      `127.0.0.1:${String(served.port)}`,
      'hello',
    ]);
    await untilSo('the response is over', () => aborted);
  });
});

/** Repeats the request until the server responds. Passes the body of the response to `take`. */
async function untilFetched(url: string, take: (body: string) => void): Promise<void> {
  let isFetched = false;
  while (!isFetched)
    isFetched = await fetch(url).then(
      async (response) => {
        take(await response.text());
        return true;
      },
      () => false,
    );
}
