import { QueueLockError } from '@queuelock/core/backend';
import type { ILeaseKeepAliveRequest, ILeaseKeepAliveResponse } from '../protocol/messages.ts';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { Channel } from '../driver/driver.ts';
import { Subject, type Observable } from '../base/rx.ts';

/** The server's answer to one keepalive. */
export interface Beat {
  /** What the lease has left from here on, in milliseconds; 0 or less when the member knows no such lease. */
  readonly ttlMs: number;
  /** The Raft term in which the member answered. */
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
  /** Takes timer and listener away. */
  readonly done: () => void;
}

/**
 * Keepalives of one lease, each asked for and answered on a raw stream; no timer of its own.
 * A stream on which an answer is missing is dropped, whatever the reason: an answer that came later would be taken for
 * the answer to a later keepalive, and would prove too much.
 */
export class KeepAlive {
  /** Emits when the stream ends while no keepalive waits for its answer. */
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

  /** One keepalive to one member. Rejects when there is no answer in time; the next one goes to the next member. */
  beat(signal: AbortSignal): Promise<Beat> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const line = (this.#line ??= this.#open());
      const late = setTimeout(() => {
        this.#fail(line, new Error(`no answer to a heartbeat within ${this.#answerWithinMs} ms`));
      }, this.#answerWithinMs);
      // Whoever asks gives up when the answer is overdue, so this says as much about the member as our own patience does.
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

  /** The next keepalive goes to the member that all else goes to. Not while one waits for its answer. */
  follow(): void {
    const line = this.#line;
    if (!line || line.endpoint === this.#connection.endpoint) return;
    this.#line = undefined;
    line.channel.abandon();
  }

  /** The next keepalive goes over another stream. Not while one waits for its answer. */
  leaveStream(): void {
    const line = this.#line;
    this.#line = undefined;
    line?.channel.close();
  }

  /** Ends the stream, and a keepalive that waits for its answer with `SESSION_LOST`. */
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
