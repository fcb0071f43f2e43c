import type { CallOptions, Channel, ChannelListener } from '../driver/driver.ts';
import { isTokenOutdated } from '../driver/errors.ts';
import { AddressOrder } from './address-order.ts';
import { RefusedCall } from './call-errors.ts';
import { Http2Channel } from './http2-channel.ts';
import { Http2Dialer } from './http2-dialer.ts';
import { Http2Login } from './http2-login.ts';
import { authenticate, type Method } from './http2-methods.ts';
import { sendUnary, type Unary } from './http2-unary.ts';
import type { Address, CallHeaders, OpenLink } from './link.ts';
import { timeoutOfOne } from '../base/timeout.ts';
import { SharedTimeout } from '../base/shared-timeout.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

// How many bytes of a response a member may send before this client permits more. Unary calls permit many, so that a distant member can send a large
// response at once. Streams keep the usual default, so that a server notices when a client is too slow.
const LARGE_WINDOW = 4 * 2 ** 20;
const USUAL_WINDOW = 2 ** 16 - 1;

/** What the driver of a member needs beside the options: the circuit breaker, and the function that opens connections. */
export interface MemberParts {
  readonly breaker: MemberCircuitBreaker;
  readonly openLink: OpenLink;
}

/** The two connections to a member, and the authentication token of their calls. */
export class Http2Member {
  readonly #headers: CallHeaders;
  /** The headers that the latest request to each gRPC method had, by the method's path. */
  readonly #known = new Map<string, CallHeaders>();
  readonly #login: Http2Login | undefined;
  /** The shared timeout of all calls whose timeout is the option `requestTimeoutMs` of the backend. */
  readonly #usual: SharedTimeout;
  /**
   * Unary calls and streams have separate connections, so that a large response delays neither heartbeats nor
   * events.
   */
  readonly #calls: Http2Dialer;
  readonly #streams: Http2Dialer;

  constructor(host: string, options: CheckedOptions, { breaker, openLink }: MemberParts) {
    const { logsIn, credentials, requestTimeoutMs } = options;
    const address = addressOf(host, options);
    this.#usual = new SharedTimeout(requestTimeoutMs);
    const dialerFor = (window: number): Http2Dialer =>
      new Http2Dialer(address, {
        connectTimeoutMs: requestTimeoutMs,
        window,
        breaker,
        credentials,
        openLink,
      });
    this.#calls = dialerFor(LARGE_WINDOW);
    this.#streams = dialerFor(USUAL_WINDOW);
    this.#headers = {
      ':method': 'POST',
      ':scheme': address.tls ? 'https' : 'http',
      ':authority': address.authority,
      'content-type': 'application/grpc',
      te: 'trailers',
      // The header `hasleader` makes a member that cannot reach the others return "no leader" at once. Otherwise the member would keep streams open
      // without events.
      hasleader: 'true',
    };
    if (logsIn) this.#login = new Http2Login(() => this.#logIn(credentials, requestTimeoutMs));
  }

  /** Sends one request. Repeats it only if the member has refused it, because of its authentication token or without having processed it. */
  call<Request extends object, Response>(
    method: Method<Request, Response>,
    request: Request,
    { withinMs }: CallOptions,
  ): Promise<Response> {
    const timeout = withinMs === this.#usual.ms ? this.#usual : timeoutOfOne(withinMs);
    const links = this.#calls;
    if (this.#login) return this.#callWithToken(this.#login, { method, request, timeout, links });
    return this.#send({ headers: this.#headersOf(method), method, request, timeout, links });
  }

  async #callWithToken<Request extends object, Response>(
    login: Http2Login,
    call: Omit<Unary<Request, Response>, 'headers'>,
  ): Promise<Response> {
    const send = (token: string): Promise<Response> =>
      this.#send({ ...call, headers: this.#headersOf(call.method, token) });
    const token = login.token();
    try {
      return await send(await token);
    } catch (error) {
      if (!isTokenOutdated(error)) throw error;
      login.forget(token);
      return send(await login.token());
    }
  }

  open<Request extends object, Response>(
    method: Method<Request, Response>,
    listener: ChannelListener<Response>,
  ): Channel<Request> {
    return new Http2Channel(
      async (calling, isLast) => {
        const token = this.#login?.token();
        const call = { headers: this.#headersOf(method, await token), readsAtEnd: false };
        const link = await this.#streams.link();
        return link.open(call, {
          onMessage: calling.onMessage,
          onEnd: (error) => {
            if (token && isTokenOutdated(error)) this.#login?.forget(token);
            if (isLast && error instanceof RefusedCall) link.retire();
            calling.onEnd(error);
          },
        });
      },
      method,
      listener,
    );
  }

  close(): void {
    this.#calls.close();
    this.#streams.close();
  }

  async #logIn(credentials: CheckedOptions['credentials'], withinMs: number): Promise<string> {
    const { user } = await credentials.next();
    const request = { name: user?.username ?? '', password: user?.password ?? '' };
    const headers = this.#headersOf(authenticate);
    const timeout = timeoutOfOne(withinMs);
    const { token } = await this.#send({
      headers,
      method: authenticate,
      request,
      timeout,
      links: this.#calls,
    });
    return token;
  }

  #send<Request extends object, Response>(call: Unary<Request, Response>): Promise<Response> {
    const link = this.#calls.present;
    return link ? sendUnary(link, call) : this.#sendOnNewLink(call);
  }

  /** Opens a connection and sends the request on it, in this tick unless credentials must be read first. */
  async #sendOnNewLink<Request extends object, Response>(call: Unary<Request, Response>): Promise<Response> {
    const link = this.#calls.link();
    return sendUnary(link instanceof Promise ? await link : link, call);
  }

  #headersOf({ path }: { readonly path: string }, token?: string): CallHeaders {
    const known = this.#known.get(path);
    if (known && known['token'] === token) return known;
    const headers = { ...this.#headers, ':path': path, ...(token === undefined ? {} : { token }) };
    this.#known.set(path, headers);
    return headers;
  }
}

function addressOf(authority: string, { tls, credentials }: CheckedOptions): Address {
  const { hostname, port } = new URL(`http://${authority}`);
  const pems = (): ReturnType<NonNullable<Address['tls']>> => {
    const { rootCertificate: ca, certChain: cert, privateKey: key } = credentials.latest?.pems ?? {};
    return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  };
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 80 : Number(port),
    order: new AddressOrder(),
    authority,
    tls: tls ? pems : undefined,
  };
}
