import type { OutgoingHttpHeaders } from 'node:http2';
import type { CallOptions, Channel, ChannelListener } from '../driver/driver.ts';
import { isTokenOutdated } from '../driver/errors.ts';
import { Http2Call } from './http2-call.ts';
import { Http2Channel } from './http2-channel.ts';
import { Http2Dialer } from './http2-dialer.ts';
import type { Address } from './http2-link.ts';
import { Http2Login } from './http2-login.ts';
import { authenticate, type Method } from './http2-methods.ts';
import { sendUnary, type Unary } from './http2-unary.ts';
import { startTimeout } from '../base/timeout.ts';
import { SharedTimeout } from '../base/shared-timeout.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

// The window of calls with one response, in bytes. With a large window a distant member can send a large response without waiting for
// acknowledgements. Streams of events keep the default window of other clients, so that a server notices when a client falls behind.
const LARGE_WINDOW = 4 * 2 ** 20;
const USUAL_WINDOW = 2 ** 16 - 1;

/** The timeout of most calls. */
interface UsualTimeout {
  readonly ms: number;
  readonly shared: SharedTimeout;
}

type Sending<Request, Response> = Omit<Unary<Request, Response>, 'dialer' | 'afterTimeout'>;

/** The connections to a member, and the log-in of their calls. */
export class Http2Member {
  readonly #headers: OutgoingHttpHeaders;
  /** The headers of the last call, by path. */
  readonly #known = new Map<string, OutgoingHttpHeaders>();
  readonly #login: Http2Login | undefined;
  readonly #usual: UsualTimeout;
  /** Streams have a connection of their own, so that a large response delays neither heartbeats nor events. */
  readonly #calls: Http2Dialer;
  readonly #streams: Http2Dialer;

  constructor(host: string, options: CheckedOptions, breaker: MemberCircuitBreaker) {
    const { logsIn, credentials, requestTimeoutMs } = options;
    const address = addressOf(host, options);
    this.#usual = { ms: requestTimeoutMs, shared: new SharedTimeout(requestTimeoutMs) };
    const dialerFor = (window: number): Http2Dialer =>
      new Http2Dialer(address, { connectTimeoutMs: requestTimeoutMs, window, breaker, credentials });
    this.#calls = dialerFor(LARGE_WINDOW);
    this.#streams = dialerFor(USUAL_WINDOW);
    this.#headers = {
      ':method': 'POST',
      ':scheme': address.tls ? 'https' : 'http',
      ':authority': address.authority,
      'content-type': 'application/grpc',
      te: 'trailers',
      // A member that is cut off from the others then returns "no leader" at once, and does not keep streams open silently.
      hasleader: 'true',
    };
    if (logsIn) this.#login = new Http2Login(() => this.#logIn(credentials, requestTimeoutMs));
  }

  /** Sends one request. It is repeated only if the member refused it because of its token. */
  async call<Request extends object, Response>(
    method: Method<Request, Response>,
    request: Request,
    { withinMs }: CallOptions,
  ): Promise<Response> {
    const send = (token?: string): Promise<Response> =>
      this.#send({ headers: this.#headersOf(method, token), method, request, withinMs });
    const renewed = this.#calls.renewed();
    if (renewed) await renewed;
    if (!this.#login) return send();
    const token = this.#login.token();
    try {
      return await send(await token);
    } catch (error) {
      if (!isTokenOutdated(error)) throw error;
      this.#login.forget(token);
      return send(await this.#login.token());
    }
  }

  open<Request extends object, Response>(
    method: Method<Request, Response>,
    listener: ChannelListener<Response>,
  ): Channel<Request> {
    return new Http2Channel(
      async (calling) => {
        const token = this.#login?.token();
        const headers = this.#headersOf(method, await token);
        await this.#streams.renewed();
        return new Http2Call(this.#streams.link(), headers, {
          onMessage: calling.onMessage,
          onEnd: (error) => {
            if (token && isTokenOutdated(error)) this.#login?.forget(token);
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
    const { token } = await this.#send({ headers, method: authenticate, request, withinMs });
    return token;
  }

  /** Sends a request. Most calls have the same timeout and share its timer. */
  #send<Request extends object, Response>(call: Sending<Request, Response>): Promise<Response> {
    const { ms, shared } = this.#usual;
    const afterTimeout = (task: () => void): (() => void) =>
      call.withinMs === ms ? shared.start(task) : startTimeout(call.withinMs, task);
    return sendUnary({ ...call, dialer: this.#calls, afterTimeout });
  }

  #headersOf({ path }: { readonly path: string }, token?: string): OutgoingHttpHeaders {
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
    authority,
    tls: tls ? pems : undefined,
  };
}
