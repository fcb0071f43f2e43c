import type { QueueLockError, DeadlineQueue, TimedTask } from '@queuelock/core/backend';
import { errorOf, requestTimedOut } from './errors.ts';

/** A result code of ZooKeeper and, with code 0, the result. */
export interface Reply<V extends unknown[]> {
  readonly code: number;
  readonly values: V;
}

/** Sends one request with a client. Returns 0, or the result code with which the client library refused it. */
export type Request<V extends unknown[], Client> = (
  client: Client,
  done: (code: number, text: string, ...values: V) => void,
) => number;

/** The client library's connection, which sends requests to the server in order. */
export interface RequestSender<Client> {
  send(request: (client: Client) => number): number;
}

/** Options of a call to the server. */
export interface CallOption {
  /** Whether the call is sent before all calls that have not been sent yet. */
  readonly urgent?: boolean;
}

interface Call<Client> extends TimedTask {
  readonly send: (carrier: RequestSender<Client>) => void;
  readonly fail: (error: QueueLockError) => void;
  isSent: boolean;
  /**
   * How many replies the session had received when the call's timeout started. Later replies show that the
   * server still responds.
   */
  repliesBefore: number;
}

// Maximum number of calls in flight. It is enough to hide the round trips to a distant server. Further calls
// wait in this process, so that a heartbeat can overtake them. That matters after a reconnect, when thousands
// of waiters read again at once.
const MAX_IN_FLIGHT = 100;

/**
 * The calls of one session that have no reply yet. They are sent in order, at most 100 at a time, and wait while there is no connection.
 * A call has a timeout of its own for two reasons: the native client drops some calls without an error, and it notices a silent server
 * only after two thirds of the session timeout.
 */
export class Calls<Client> {
  readonly #timeout: DeadlineQueue;
  readonly #defer: ((task: () => void) => unknown) | undefined;
  /** All calls without a reply. */
  readonly #pending = new Set<Call<Client>>();
  /** Urgent calls that have not been sent. A call that has failed meanwhile may still be in the list. */
  readonly #urgent: Call<Client>[] = [];
  /** Calls that are not urgent and have not been sent. A call that has failed meanwhile may still be in the list. */
  readonly #normal: Call<Client>[] = [];
  /** Calls that were sent on the present connection and have no reply. */
  readonly #inFlight = new Set<Call<Client>>();
  #replies = 0;
  #sender: RequestSender<Client> | undefined;
  #ended: QueueLockError | undefined;

  /** @param defer runs the handler of a reply, if it must not run within the callback of the client library */
  constructor(timeout: DeadlineQueue, defer?: (task: () => void) => unknown) {
    this.#timeout = timeout;
    this.#defer = defer;
  }

  /**
   * Sends a request and waits for the reply. Each request has its own callback.
   * @param what describes the request in error messages
   */
  issue<V extends unknown[]>(
    what: string,
    request: Request<V, Client>,
    { urgent = false }: CallOption = {},
  ): Promise<Reply<V>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended);
        return;
      }
      const settle = (): boolean => {
        this.#timeout.cancel(call);
        this.#inFlight.delete(call);
        return this.#pending.delete(call);
      };
      const fail = (error: QueueLockError): void => {
        if (settle()) reject(error);
      };
      const send = (sender: RequestSender<Client>): void => {
        this.#startTimeout(call);
        const refusal = sender.send((client) =>
          request(client, (code, _text, ...values) => {
            const handle = (): void => {
              this.#replies += 1;
              if (settle()) resolve({ code, values });
              this.#advance();
            };
            if (this.#defer) this.#defer(handle);
            else handle();
          }),
        );
        if (refusal !== 0) fail(errorOf(refusal, what));
      };
      const timedOut = (): void => this.#onTimeout(call, what);
      const call: Call<Client> = { send, fail, timedOut, isSent: false, repliesBefore: 0 };
      this.#pending.add(call);
      (urgent ? this.#urgent : this.#normal).push(call);
      this.#advance();
      if (!call.isSent) this.#startTimeout(call);
    });
  }

  /** Sends calls on a new connection from now on. First sends those that have been waiting. */
  sendBy(sender: RequestSender<Client>): void {
    this.#sender = sender;
    this.#advance();
  }

  /** Stops sending, since the connection is down. The native client then rejects the calls that it has sent. */
  park(): void {
    this.#sender = undefined;
    this.#inFlight.clear();
  }

  /** Rejects all calls without a reply, and all later ones. */
  end(error: QueueLockError): void {
    this.#ended ??= error;
    for (const { fail } of this.#pending) fail(this.#ended);
  }

  /** Sends waiting calls up to the limit of calls in flight. Stops if the connection breaks meanwhile. */
  #advance(): void {
    while (this.#sender) {
      const isFull = this.#inFlight.size >= MAX_IN_FLIGHT;
      const call = this.#urgent.shift() ?? (isFull ? undefined : this.#normal.shift());
      if (!call) return;
      if (!this.#pending.has(call)) continue;
      call.isSent = true;
      this.#inFlight.add(call);
      call.send(this.#sender);
    }
  }

  #startTimeout(call: Call<Client>): void {
    call.repliesBefore = this.#replies;
    this.#timeout.start(call);
  }

  /**
   * Rejects a call at the end of its timeout. A call that has not been sent gets another timeout instead, if other calls got replies in
   * that time.
   */
  #onTimeout(call: Call<Client>, what: string): void {
    if (!call.isSent && this.#replies > call.repliesBefore) {
      this.#startTimeout(call);
      return;
    }
    call.fail(requestTimedOut(what, this.#timeout.ms));
    this.#advance();
  }
}
