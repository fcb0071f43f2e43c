import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A request that the proxy has received. */
export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/**
 * An HTTP proxy between a client and an agent. It records requests, and can delay, reset or change chosen
 * ones.
 */
export class HttpProxy {
  readonly passed: PassedRequest[] = [];
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  #isHeld: (request: PassedRequest) => boolean = () => false;
  #isReplyLost: (request: PassedRequest) => boolean = () => false;
  #isMissing: (request: PassedRequest) => boolean = () => false;
  #isReset: (request: PassedRequest) => boolean = () => false;
  readonly #held: (() => Promise<void>)[] = [];

  private constructor(endpoint: string) {
    const [host = '', port = ''] = endpoint.split(':');
    this.#target = { host, port: Number(port) };
    this.#server = createServer((request, response) => {
      void this.#relay(request, response);
    });
  }

  /** Starts a proxy to an agent. */
  static async start(endpoint: string): Promise<HttpProxy> {
    const proxy = new HttpProxy(endpoint);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Delays all requests for which `isHeld` returns true, until `release` is called. */
  hold(isHeld: (request: PassedRequest) => boolean): void {
    this.#isHeld = isHeld;
  }

  /**
   * Resets the connection of the next request for which `isReset` returns true. Delays the request itself
   * until `release` is called.
   */
  resetNext(isReset: (request: PassedRequest) => boolean): void {
    this.#isReset = isReset;
  }

  /**
   * Passes requests for which `isReplyLost` returns true to the agent, but closes their connections instead
   * of sending the responses.
   */
  loseReplies(isReplyLost: (request: PassedRequest) => boolean): void {
    this.#isReplyLost = isReplyLost;
  }

  /**
   * Responds to requests for which `isMissing` returns true as a server does that lags behind and has no keys
   * yet.
   */
  lagBehind(isMissing: (request: PassedRequest) => boolean): void {
    this.#isMissing = isMissing;
  }

  /**
   * Sends the delayed requests to the agent, even if their clients have given up. Resolves with their number
   * when the agent has executed them.
   */
  async release(): Promise<number> {
    this.#isHeld = () => false;
    const held = this.#held.splice(0);
    for (const pass of held) await pass();
    return held.length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '' } = request;
    const whole = { method, path, body: Buffer.concat(chunks).toString() };
    const pass = async (): Promise<void> => {
      this.passed.push(whole);
      if (this.#isMissing(whole)) {
        response.writeHead(404, { 'x-consul-index': '1' }).end();
        return;
      }
      const forwarded = send({ ...this.#target, method, path, headers: request.headers });
      response.on('close', () => {
        if (!response.writableFinished && path.includes('index=')) forwarded.destroy();
      });
      forwarded.end(whole.body);
      const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of reply) parts.push(part as Buffer);
      if (this.#isReplyLost(whole)) response.destroy();
      else response.writeHead(reply.statusCode ?? 500, reply.headers).end(Buffer.concat(parts));
    };
    if (this.#isReset(whole)) {
      this.#isReset = () => false;
      this.#held.push(pass);
      request.socket.resetAndDestroy();
    } else if (this.#isHeld(whole)) this.#held.push(pass);
    else await pass().catch(() => response.destroy());
  }
}
