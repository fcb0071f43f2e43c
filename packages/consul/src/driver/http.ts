// Folder "driver": sends HTTP requests to an agent, and parses its responses.
// http.ts (this file) sends requests over kept-alive connections. requests.ts encodes requests of Consul's API. responses.ts parses the
// JSON of responses. errors.ts converts failures to errors of queuelock.

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { readBody } from './body.ts';

/** PEM texts for TLS. */
export interface TlsOptions {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/** The address of an agent's HTTP API. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** A request to one agent. */
export interface HttpRequest {
  readonly method: 'GET' | 'PUT';
  /** The path and the query of the request. */
  readonly path: string;
  readonly body?: string | undefined;
  /** Time limit of the request in milliseconds, including the time to connect. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The response to an HTTP request. */
export interface HttpResponse {
  readonly status: number;
  /** The header `X-Consul-Index`, where the response has one. */
  readonly index: bigint | undefined;
  readonly body: string;
}

/** Sends requests over connections that are kept open. */
export class HttpClient {
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #request: typeof httpRequest;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param token the ACL token, if the requests have one */
  constructor({ tls, token }: { readonly tls: TlsOptions | undefined; readonly token: string | undefined }) {
    this.#headers = token === undefined ? {} : { 'x-consul-token': token };
    const keepAlive = { keepAlive: true, keepAliveMsecs: 15_000 };
    this.#agent = tls ? new HttpsAgent({ ...keepAlive, ...definedIn(tls) }) : new HttpAgent(keepAlive);
    this.#request = tls ? httpsRequest : httpRequest;
  }

  /**
   * Sends a request. The server may close an idle connection in the moment in which it is used. Then a read is repeated over a new connection. A
   * write is not repeated: the first one may still be in flight, and the server may execute it after later requests of the caller.
   */
  async send(address: Address, request: HttpRequest): Promise<HttpResponse> {
    const attempt = { reused: false };
    try {
      return await this.#attempt(address, request, attempt);
    } catch (error) {
      const isIdleReset = attempt.reused && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
      if (!isIdleReset || request.method !== 'GET') throw error;
      return this.#attempt(address, request, attempt);
    }
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
  }

  #attempt(
    address: Address,
    { method, path, body, timeoutMs, signal }: HttpRequest,
    attempt: { reused: boolean },
  ): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const headers = { ...this.#headers, 'content-length': Buffer.byteLength(body ?? '') };
      const sent = this.#request({ ...address, agent: this.#agent, method, path, headers });
      const stop = (error: Error): void => {
        settle();
        sent.destroy();
        reject(error);
      };
      const timer = setTimeout(() => stop(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
      const abort = (): void => stop(signal?.reason as Error);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      signal?.addEventListener('abort', abort, { once: true });
      sent.on('error', (error) => {
        attempt.reused = sent.reusedSocket;
        stop(error);
      });
      sent.on('response', (response) => {
        readBody(response).then((text) => {
          settle();
          resolve({ status: response.statusCode ?? 0, index: indexIn(response), body: text });
        }, stop);
      });
      sent.end(body);
    });
  }
}

function indexIn({ headers }: IncomingMessage): bigint | undefined {
  const index = headers['x-consul-index'];
  return typeof index === 'string' && /^\d+$/.test(index) ? BigInt(index) : undefined;
}

function definedIn(tls: TlsOptions): TlsOptions {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
