import { QueueLockError } from '@queuelock/core/backend';
import type { ILeaseKeepAliveRequest, ILeaseKeepAliveResponse } from '../protocol/messages.ts';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { Channel } from '../driver/driver.ts';
import { Subject, type Observable } from '../base/rx.ts';

/** A member's response to one keepalive request. */
export interface HeartbeatResponse {
  /** The remaining time of the lease in milliseconds; 0 or less if the member does not know the lease. */
  readonly ttlMs: number;
  /** The Raft term in which the member has responded. */
  readonly term: string;
  readonly endpoint: Endpoint;
}

interface Stream {
  readonly endpoint: Endpoint;
  readonly channel: Channel<ILeaseKeepAliveRequest>;
}

interface PendingHeartbeat {
  readonly resolve: (heartbeat: HeartbeatResponse) => void;
  readonly reject: (error: Error) => void;
  /** Stops the timer of the response timeout, and removes the listener of the caller's abort signal. */
  readonly done: () => void;
}

/**
 * Sends the keepalive requests of one lease on a stream. After a missing response it closes the stream. Otherwise a late response would be taken for
 * the response to a later request, and would prove too much time.
 */
export class KeepAlive {
  /** Emits when the keepalive stream ends while no request is in flight. */
  readonly broken$: Observable<unknown>;
  readonly #broken$ = new Subject();
  readonly #connection: Connection;
  readonly #lease: string;
  readonly #responseTimeoutMs: number;
  #stream: Stream | undefined;
  #pending: PendingHeartbeat | undefined;

  constructor(connection: Connection, lease: string, responseTimeoutMs: number) {
    this.broken$ = this.#broken$;
    this.#connection = connection;
    this.#lease = lease;
    this.#responseTimeoutMs = responseTimeoutMs;
  }

  /** Sends one keepalive request to one member. Rejects if there is no response in time. The next request then goes to the next member. */
  heartbeat(signal: AbortSignal): Promise<HeartbeatResponse> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stream = (this.#stream ??= this.#open());
      const late = setTimeout(() => {
        this.#fail(stream, new Error(`no response to a heartbeat within ${this.#responseTimeoutMs} ms`));
      }, this.#responseTimeoutMs);
      // The core aborts a heartbeat whose response is overdue. Such an abort counts as a failure of the member, as a timeout does.
      const abort = (): void => this.#fail(stream, signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#pending = {
        resolve,
        reject,
        done: () => {
          clearTimeout(late);
          signal.removeEventListener('abort', abort);
        },
      };
      stream.channel.write({ ID: this.#lease });
    });
  }

  /**
   * Makes the next keepalive request go to the member that gets all other requests of the backend. It must not be called while a keepalive request is
   * in flight.
   */
  follow(): void {
    const stream = this.#stream;
    if (!stream || stream.endpoint === this.#connection.endpoint) return;
    this.#stream = undefined;
    stream.channel.abandon();
  }

  /** Makes the next keepalive request go on a new stream. It must not be called while a keepalive request is in flight. */
  leaveStream(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.channel.close();
  }

  /** Closes the keepalive stream. A keepalive request in flight rejects with `SESSION_LOST`. */
  close(): void {
    this.leaveStream();
    this.#settle()?.reject(new QueueLockError('SESSION_LOST', 'the session was closed'));
    this.#broken$.complete();
  }

  #open(): Stream {
    const { endpoint } = this.#connection;
    const stream: Stream = {
      endpoint,
      channel: endpoint.driver.keepAlive({
        onResponse: (response) => this.#receive(stream, response),
        onEnd: (error) => this.#fail(stream, error),
      }),
    };
    return stream;
  }

  #receive(stream: Stream, { TTL, header }: ILeaseKeepAliveResponse): void {
    if (stream !== this.#stream) return;
    this.#settle()?.resolve({
      ttlMs: Number(TTL) * 1_000,
      term: header.raft_term,
      endpoint: stream.endpoint,
    });
  }

  #fail(stream: Stream, error: unknown): void {
    if (stream !== this.#stream) return;
    this.#stream = undefined;
    stream.channel.abandon();
    const failure = this.#connection.failed(stream.endpoint, { what: 'the heartbeat', error });
    const pending = this.#settle();
    if (pending) pending.reject(failure);
    else this.#broken$.next(failure);
  }

  #settle(): PendingHeartbeat | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.done();
    return pending;
  }
}
