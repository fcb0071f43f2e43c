import type { FreshCredentials } from '@queuelock/core/backend';
import { clientClosed } from '../driver/errors.ts';
import { GrpcError } from '../driver/grpc-status.ts';
import { Http2Link, type Address, type LinkOptions } from './http2-link.ts';
import type { MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

// A connection without a sign of life is closed after 8 s while a call is open. Servers allow a ping every 5 s, and none without a call.
const PINGS = { pingEveryMs: 6_000, pingTimeoutMs: 2_000 };

/** Settings of a connection to a member. */
export interface DialerOptions extends Pick<LinkOptions, 'connectTimeoutMs' | 'window'> {
  readonly credentials: FreshCredentials<unknown>;
  /** The circuit breaker of the member, which the member's other connection shares. */
  readonly breaker: MemberCircuitBreaker;
}

/**
 * The current connection to a member. The first call opens it, and the next call replaces it after it has ended or was retired. While the
 * circuit breaker is open, calls fail at once.
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

  /** Reads the credentials again if the next call opens a connection. Returns `undefined` if no read is needed. */
  renewed(): Promise<unknown> | undefined {
    return this.#current?.isUsable || this.#credentials.isFixed ? undefined : this.#credentials.next();
  }

  /** Returns the connection for one more call. Throws if no connection is possible now. */
  link(): Http2Link {
    if (this.#current?.isUsable) return this.#current;
    if (this.#closed) throw clientClosed();
    return (this.#current = this.#dial());
  }

  /** Ends all calls. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    for (const link of [...this.#links]) link.destroy(clientClosed());
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
