import { QueueLockError } from '@queuelock/core/backend';
import type { ILeaseKeepAliveRequest, ILeaseKeepAliveResponse } from '../protocol/messages.ts';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { Channel } from '../driver/driver.ts';
import { Subject, type Observable } from '../base/rx.ts';

/** The response to one keepalive. */
export interface Beat {
  /** The time that the lease has left, in milliseconds; 0 or less if the member does not know the lease. */
  readonly ttlMs: number;
  /** The Raft term of the response. */
  readonly term: string;
  readonly endpoint: Endpoint;
}

interface Line {
  readonly endpoint: Endpoint;
  readonly channel: Channel<ILeaseKeepAliveRequest>;
}

interface Asked {
  readonly resolve: (beat: Beat) => void;
  readonly reject: (error: Error) => void;
  /** Removes timer and listener. */
  readonly done: () => void;
}

/**
 * Sends keepalives of one lease on a raw stream. It has no heartbeat timer of its own. A stream with a missing response is closed, whatever
 * the reason: a late response would be taken for the one to a later keepalive, and would prove too much.
 */
export class KeepAlive {
  /** Emits when the stream ends while no keepalive is in flight. */
  readonly broken$: Observable<unknown>;
  readonly #broken$ = new Subject();
  readonly #connection: Connection;
  readonly #lease: string;
  readonly #answerWithinMs: number;
  #line: Line | undefined;
  #asked: Asked | undefined;

  constructor(connection: Connection, lease: string, answerWithinMs: number) {
    this.broken$ = this.#broken$;
    this.#connection = connection;
    this.#lease = lease;
    this.#answerWithinMs = answerWithinMs;
  }

  /** Sends one keepalive to one member. Rejects if there is no response in time. The next keepalive then goes to the next member. */
  beat(signal: AbortSignal): Promise<Beat> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const line = (this.#line ??= this.#open());
      const late = setTimeout(() => {
        this.#fail(line, new Error(`no answer to a heartbeat within ${this.#answerWithinMs} ms`));
      }, this.#answerWithinMs);
      // The caller aborts when the response is overdue, which shows the same about the member as the timeout does.
      const abort = (): void => this.#fail(line, signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#asked = {
        resolve,
        reject,
        done: () => {
          clearTimeout(late);
          signal.removeEventListener('abort', abort);
        },
      };
      line.channel.write({ ID: this.#lease });
    });
  }

  /** Sends the next keepalive to the member that gets all other requests. Not to be called while a keepalive is in flight. */
  follow(): void {
    const line = this.#line;
    if (!line || line.endpoint === this.#connection.endpoint) return;
    this.#line = undefined;
    line.channel.abandon();
  }

  /** Sends the next keepalive on another stream. Not to be called while a keepalive is in flight. */
  leaveStream(): void {
    const line = this.#line;
    this.#line = undefined;
    line?.channel.close();
  }

  /** Ends the stream. A keepalive in flight rejects with `SESSION_LOST`. */
  close(): void {
    this.leaveStream();
    this.#settle()?.reject(new QueueLockError('SESSION_LOST', 'the session was closed'));
    this.#broken$.complete();
  }

  #open(): Line {
    const { endpoint } = this.#connection;
    const line: Line = {
      endpoint,
      channel: endpoint.driver.keepAlive({
        onResponse: (response) => this.#answer(line, response),
        onEnd: (error) => this.#fail(line, error),
      }),
    };
    return line;
  }

  #answer(line: Line, { TTL, header }: ILeaseKeepAliveResponse): void {
    if (line !== this.#line) return;
    this.#settle()?.resolve({ ttlMs: Number(TTL) * 1_000, term: header.raft_term, endpoint: line.endpoint });
  }

  #fail(line: Line, error: unknown): void {
    if (line !== this.#line) return;
    this.#line = undefined;
    line.channel.abandon();
    const failure = this.#connection.failed(line.endpoint, { what: 'the heartbeat', error });
    const asked = this.#settle();
    if (asked) asked.reject(failure);
    else this.#broken$.next(failure);
  }

  #settle(): Asked | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    asked?.done();
    return asked;
  }
}
