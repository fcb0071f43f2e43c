import { ExponentialBackoff, type IBackoff } from 'cockatiel';
import { clientClosed } from './errors.ts';
import { GrpcError } from './grpc-status.ts';
import { Http2Link, type Address, type LinkOptions } from './http2-link.ts';

// A connection that died without a word is noticed after 8 s while a call is open. Servers allow a ping every 5 s, and none without a call.
const PINGS = { pingEveryMs: 6_000, pingAnswerMs: 2_000 };
const GROWING = new ExponentialBackoff({ initialDelay: 100, maxDelay: 1_000 });

/**
 * The way to a member: a connection that the first call opens, and that the next call replaces once it has ended or is not trusted
 * any more. After an attempt without success there is a pause; calls in it fail at once.
 */
export class Http2Line {
  readonly #address: Address;
  readonly #options: LinkOptions;
  readonly #links = new Set<Http2Link>();
  #current: Http2Link | undefined;
  #pause: IBackoff<unknown> | undefined;
  #pausedUntil = 0;
  #failure = '';
  #closed = false;

  constructor(
    address: Address,
    { connectWithinMs, window }: Pick<LinkOptions, 'connectWithinMs' | 'window'>,
  ) {
    this.#address = address;
    this.#options = { connectWithinMs, ...PINGS, window };
  }

  /** The connection for one more call. Throws when there can be none now. */
  link(): Http2Link {
    if (this.#current?.isUsable) return this.#current;
    if (this.#closed) throw clientClosed();
    if (performance.now() < this.#pausedUntil)
      throw new GrpcError('UNAVAILABLE', `no connection; the last attempt: ${this.#failure}`);
    return (this.#current = this.#dial());
  }

  /** Ends all calls. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    for (const link of [...this.#links]) link.destroy(clientClosed());
  }

  #dial(): Http2Link {
    let ready = false;
    const link: Http2Link = new Http2Link(this.#address, this.#options, {
      onReady: () => {
        ready = true;
        this.#pause = undefined;
      },
      onRetired: () => {
        if (this.#current === link) this.#current = undefined;
      },
      onClose: (failure) => {
        this.#links.delete(link);
        if (!ready) this.#failed(failure);
      },
    });
    this.#links.add(link);
    return link;
  }

  #failed({ message }: Error): void {
    this.#failure = message;
    this.#pause = (this.#pause ?? GROWING).next(undefined);
    this.#pausedUntil = performance.now() + this.#pause.duration;
  }
}
