import type { FreshCredentials } from '@queuelock/core/backend';
import { clientClosed } from '../driver/errors.ts';
import { GrpcError } from '../driver/grpc-status.ts';
import { Http2Link, type Address, type LinkOptions } from './http2-link.ts';
import type { MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

// While a call is open, a connection without any response is closed after 8 s. etcd allows one ping every 5 s while a call is open, and no ping
// otherwise.
const PINGS = { pingEveryMs: 6_000, pingTimeoutMs: 2_000 };

/** Settings of a connection to a member. */
export interface DialerOptions extends Pick<LinkOptions, 'connectTimeoutMs' | 'window'> {
  readonly credentials: FreshCredentials<unknown>;
  /** The circuit breaker of the member. The connection for unary calls and the connection for streams share it. */
  readonly breaker: MemberCircuitBreaker;
}

/**
 * Keeps one connection to a member. The first call opens it. After it has ended, or accepts no more calls, the next call opens another one.
 * While the circuit breaker is open, calls fail at once.
 */
export class Http2Dialer {
  readonly #address: Address;
  readonly #credentials: DialerOptions['credentials'];
  readonly #options: LinkOptions;
  readonly #breaker: MemberCircuitBreaker;
  readonly #links = new Set<Http2Link>();
  #current: Http2Link | undefined;
  #closed = false;

  constructor(address: Address, { connectTimeoutMs, window, breaker, credentials }: DialerOptions) {
    this.#credentials = credentials;
    this.#address = address;
    this.#breaker = breaker;
    this.#options = { connectTimeoutMs, ...PINGS, window };
  }

  /** The connection if it accepts another call, or `undefined`. */
  get present(): Http2Link | undefined {
    return this.#current?.isUsable ? this.#current : undefined;
  }

  /**
   * Returns a connection for one more call. Returns a promise only if credentials must be read first. Throws or rejects if no connection is
   * possible now.
   */
  link(): Http2Link | Promise<Http2Link> {
    if (this.#current?.isUsable) return this.#current;
    return this.#credentials.isFixed ? this.#newLink() : this.#credentials.next().then(() => this.#newLink());
  }

  /** Ends all calls. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    for (const link of [...this.#links]) link.destroy(clientClosed());
  }

  /** Opens a connection, unless another call has opened one meanwhile. */
  #newLink(): Http2Link {
    if (this.#current?.isUsable) return this.#current;
    if (this.#closed) throw clientClosed();
    return (this.#current = this.#dial());
  }

  #dial(): Http2Link {
    const breakerCall = this.#breaker.begin();
    let ready = false;
    const link: Http2Link = new Http2Link(this.#address, this.#options, {
      onReady: () => {
        ready = true;
        breakerCall.succeeded();
      },
      onRetired: () => {
        if (this.#current === link) this.#current = undefined;
      },
      onClose: (failure) => {
        this.#links.delete(link);
        if (!ready) breakerCall.failed(new GrpcError('UNAVAILABLE', failure.message));
      },
    });
    this.#links.add(link);
    return link;
  }
}
