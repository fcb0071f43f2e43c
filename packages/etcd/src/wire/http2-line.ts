import type { FreshCredentials } from '@queuelock/core/backend';
import { clientClosed } from '../driver/errors.ts';
import { GrpcError } from '../driver/grpc-status.ts';
import { Http2Link, type Address, type LinkOptions } from './http2-link.ts';
import type { MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

// A connection without a sign of life is closed after 8 s while a call is open. Servers allow a ping every 5 s, and none without a call.
const PINGS = { pingEveryMs: 6_000, pingAnswerMs: 2_000 };

/** Settings of a connection to a member. */
export interface LineOptions extends Pick<LinkOptions, 'connectWithinMs' | 'window'> {
  readonly credentials: FreshCredentials<unknown>;
  /** Shared with the member's other connection. */
  readonly way: MemberCircuitBreaker;
}

/**
 * The current connection to a member. The first call opens it, and the next call replaces it after it has ended or was retired. While the
 * circuit breaker is open, calls fail at once.
 */
export class Http2Line {
  readonly #address: Address;
  readonly #credentials: LineOptions['credentials'];
  readonly #options: LinkOptions;
  readonly #way: MemberCircuitBreaker;
  readonly #links = new Set<Http2Link>();
  #current: Http2Link | undefined;
  #closed = false;

  constructor(address: Address, { connectWithinMs, window, way, credentials }: LineOptions) {
    this.#credentials = credentials;
    this.#address = address;
    this.#way = way;
    this.#options = { connectWithinMs, ...PINGS, window };
  }

  /** Reads the credentials again if the next call opens a connection. Returns `undefined` if no read is needed. */
  renewed(): Promise<unknown> | undefined {
    return this.#current?.isUsable || this.#credentials.isFixed ? undefined : this.#credentials.next();
  }

  /** Returns the connection for one more call. Throws if there can be none now. */
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
    const passage = this.#way.begin();
    let ready = false;
    const link: Http2Link = new Http2Link(this.#address, this.#options, {
      onReady: () => {
        ready = true;
        passage.succeeded();
      },
      onRetired: () => {
        if (this.#current === link) this.#current = undefined;
      },
      onClose: (failure) => {
        this.#links.delete(link);
        if (!ready) passage.failed(new GrpcError('UNAVAILABLE', failure.message));
      },
    });
    this.#links.add(link);
    return link;
  }
}
