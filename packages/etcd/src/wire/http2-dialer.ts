import type { FreshCredentials } from '@queuelock/core/backend';
import { clientClosed } from '../driver/errors.ts';
import { GrpcError } from '../driver/grpc-status.ts';
import type { Address, Link, LinkOptions, LinkSource, OpenLink } from './link.ts';
import type { MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

// While a call is open, a connection without any response is closed after 8 s. etcd allows a ping every 5 s,
// and none without a call.
const PINGS = { pingEveryMs: 6_000, pingTimeoutMs: 2_000 };

/** Settings for the connections to a member, such as the connect timeout, the credentials and the circuit breaker. */
export interface DialerOptions extends Pick<LinkOptions, 'connectTimeoutMs' | 'window'> {
  readonly credentials: FreshCredentials<unknown>;
  readonly openLink: OpenLink;
  /** The circuit breaker of the member. Both connections to the member share it. */
  readonly breaker: MemberCircuitBreaker;
}

/**
 * Keeps one connection to a member. The first call opens it. After it has ended, or accepts no more calls, the next call opens another one.
 * While the circuit breaker is open, calls fail at once.
 */
export class Http2Dialer implements LinkSource {
  readonly #address: Address;
  readonly #credentials: DialerOptions['credentials'];
  readonly #options: LinkOptions;
  readonly #openLink: OpenLink;
  readonly #breaker: MemberCircuitBreaker;
  readonly #links = new Set<Link>();
  #current: Link | undefined;
  #closed = false;

  constructor(address: Address, { connectTimeoutMs, window, breaker, credentials, openLink }: DialerOptions) {
    this.#credentials = credentials;
    this.#openLink = openLink;
    this.#address = address;
    this.#breaker = breaker;
    this.#options = { connectTimeoutMs, ...PINGS, window };
  }

  /** The present connection to the member if it accepts another call, or `undefined`. */
  get present(): Link | undefined {
    return this.#current?.isUsable ? this.#current : undefined;
  }

  /**
   * Returns a connection for one more call: the current connection, or a new one. Returns a promise only if credentials must be read first. Throws or
   * rejects if no connection is possible now.
   */
  link(): Link | Promise<Link> {
    if (this.#current?.isUsable) return this.#current;
    return this.#credentials.isFixed ? this.#newLink() : this.#credentials.next().then(() => this.#newLink());
  }

  /** Ends the connections to the member, and all calls on them. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    for (const link of [...this.#links]) link.destroy(clientClosed());
  }

  /** Opens a connection, unless another call has opened one while the credentials were read. */
  #newLink(): Link {
    if (this.#current?.isUsable) return this.#current;
    if (this.#closed) throw clientClosed();
    return (this.#current = this.#dial());
  }

  #dial(): Link {
    const breakerCall = this.#breaker.begin();
    let ready = false;
    const link: Link = this.#openLink(this.#address, this.#options, {
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
