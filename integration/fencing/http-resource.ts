import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { createFencingGate, fencingHeaders, headersOf, httpOutcome, sendRefusal } from '@queuelock/fencing';
import { responseOf, type Resource, type Texts } from './resource.ts';

export interface HttpReceiver {
  readonly place: string;
  stop(): Promise<void>;
}

/** Starts a server with a fenced text at `/fenced` and an unfenced one at `/unfenced`. */
export async function startReceiver(lock: string): Promise<HttpReceiver> {
  const gate = createFencingGate();
  const texts = new Map([
    ['/fenced', ''],
    ['/unfenced', ''],
  ]);
  const server = createServer((request, response) => {
    const { url = '', method } = request;
    const put = async (): Promise<void> => {
      texts.set(url, await readText(request));
      response.writeHead(204).end();
    };
    const serve = async (): Promise<void> => {
      if (method === 'GET') response.end(texts.get(url));
      else if (url === '/unfenced') await put();
      else {
        const reply = await gate.run(headersOf(request), put, { lock });
        if (reply.outcome !== 'accepted') sendRefusal(response, reply);
      }
    };
    serve().catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    place: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * The resource on an HTTP server to which fencing tests write: one text written with a fence, and one
 * without. Its address `place` is that of the server.
 */
export const httpResource: Resource = {
  async open(place, hold) {
    const put = async (
      path: keyof Texts,
      body: string,
      headers: Record<string, string>,
    ): Promise<Response> => {
      const response = await fetch(`${place}/${path}`, { method: 'PUT', body, headers });
      await response.text();
      return response;
    };
    return {
      fenced: async (text) => responseOf(httpOutcome(hold, put('fenced', text, fencingHeaders(hold)))),
      unfenced: async (text) => ((await put('unfenced', text, {})).ok ? 'accepted' : 'refused'),
      close: async () => undefined,
    };
  },
  async texts(place) {
    const [fenced = '', unfenced = ''] = await Promise.all(
      ['fenced', 'unfenced'].map(async (path) => (await fetch(`${place}/${path}`)).text()),
    );
    return { fenced, unfenced };
  },
};
