import type { QueueLockError, DeadlineQueue, TimedTask } from '@queuelock/core/backend';
import { errorOf, requestTimedOut } from './errors.ts';

/** A result code of ZooKeeper and, with code 0, the result. */
export interface Reply<V extends unknown[]> {
  readonly code: number;
  readonly values: V;
}

/** Passes one request to a client. Returns 0, or the result code with which the client refused it. */
export type Request<V extends unknown[], Client> = (
  client: Client,
  done: (code: number, text: string, ...values: V) => void,
) => number;

/** Sends requests to the server in order. */
export interface RequestSender<Client> {
  send(request: (client: Client) => number): number;
}

/** Options of a call. */
export interface CallOption {
  /** Sends the call before all calls that have not been sent yet. */
  readonly urgent?: boolean;
}

interface Call<Client> extends TimedTask {
  readonly send: (carrier: RequestSender<Client>) => void;
  readonly fail: (error: QueueLockError) => void;
  isSent: boolean;
  /** The number of replies to all calls when the timeout started. */
  repliesBefore: number;
}

// This limit keeps a distant server busy. Other calls wait in this process, where a heartbeat can overtake them. After a reconnect
// thousands of waiters read again at once, and within a connection no request overtakes another.
const MAX_IN_FLIGHT = 100;

/**
 * The unanswered calls of one session. They are sent in order, at most 100 at a time. Without a connection they wait for the next one. No
 * call waits for the server longer than the timeout, for two reasons. The native client drops some calls without an error. It also notices
 * a silent server only after two thirds of the session timeout.
 */
export class Calls<Client> {
  readonly #timeout: DeadlineQueue;
  readonly #defer: ((task: () => void) => unknown) | undefined;
  /** All calls without a reply. */
  readonly #pending = new Set<Call<Client>>();
  /** The calls that have not been sent, in two queues: urgent ones and others. A call that is not pending any more may still be in its queue. */
  readonly #urgent: Call<Client>[] = [];
  readonly #normal: Call<Client>[] = [];
  /** Calls that were sent over the present connection. */
  readonly #inFlight = new Set<Call<Client>>();
  #replies = 0;
  #sender: RequestSender<Client> | undefined;
  #ended: QueueLockError | undefined;

  /** @param defer runs the handler of a reply outside of the client's callback. Default: within the callback */
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

  /** Sends all calls over a new connection from now on. Waiting calls are sent first. */
  sendBy(sender: RequestSender<Client>): void {
    this.#sender = sender;
    this.#advance();
  }

  /** Stops sending until the next connection. The native client rejects the calls that were sent. */
  park(): void {
    this.#sender = undefined;
    this.#inFlight.clear();
  }

  /** Fails all waiting calls and all later ones. */
  end(error: QueueLockError): void {
    this.#ended ??= error;
    for (const { fail } of this.#pending) fail(this.#ended);
  }

  /** Sends waiting calls up to the limit. A connection that breaks meanwhile ends the loop. */
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

  /** Fails the call at its timeout. A call that is still queued waits longer as long as replies arrive. */
  #onTimeout(call: Call<Client>, what: string): void {
    if (!call.isSent && this.#replies > call.repliesBefore) {
      this.#startTimeout(call);
      return;
    }
    call.fail(requestTimedOut(what, this.#timeout.ms));
    this.#advance();
  }
}
