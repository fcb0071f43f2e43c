// Sends HTTP requests from separate local addresses, as different machines do.
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { TOKEN_HEADER, type BridgeFacts } from '../../src/wire.ts';

/** Method and body of an HTTP request that a simulated client sends. */
export interface Sent {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
}

/**
 * A simulated machine with its own address on the loopback interface, which has 16 million addresses. The
 * bridge counts it as one client.
 */
export class Visitor {
  readonly #url: string;
  readonly #localAddress: string;
  readonly #agent = new Agent({ keepAlive: true });
  #token = '';

  constructor(url: string, number: number) {
    this.#url = url;
    this.#localAddress = `127.1.${String(number >> 8)}.${String(number & 255)}`;
  }

  async start(): Promise<void> {
    const facts = await this.send('facts');
    ({ token: this.#token } = JSON.parse(await text(facts)) as BridgeFacts);
  }

  send(path: string, { method = 'GET', body }: Sent = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', [TOKEN_HEADER]: this.#token };
      const options = { method, headers, agent: this.#agent, localAddress: this.#localAddress };
      const sending = request(`${this.#url}/v2/${path}`, options, resolve);
      sending.on('error', reject);
      sending.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Sends a POST request to the bridge. Resolves with the body of the response. */
  async post(path: string, body: unknown): Promise<string> {
    return text(await this.send(path, { method: 'POST', body }));
  }

  stream(topics: readonly object[]): Promise<IncomingMessage> {
    return this.send('stream', { method: 'POST', body: { topics: topics.map((topic) => ({ topic })) } });
  }
}
