import type { QueueLockError } from '@queuelock/core/backend';
import { errorOf, noAnswer } from './errors.ts';
import { afterQuietLoop } from '../base/quiet-loop.ts';

/** A result code of ZooKeeper and, with code 0, what came with it. */
export interface Answer<V extends unknown[]> {
  readonly code: number;
  readonly values: V;
}

/** Hands one request to a client: 0, or the code that says why it was not taken. */
export type Request<V extends unknown[], Client> = (
  client: Client,
  done: (code: number, text: string, ...values: V) => void,
) => number;

/** Carries requests to the server, in their order. */
export interface Carrier<Client> {
  send(request: (client: Client) => number): number;
}

/** How a call is treated. */
export interface CallOption {
  /** It overtakes all that has not been sent yet. */
  readonly urgent?: boolean;
}

/** One call. */
interface Call<Client> {
  readonly send: (carrier: Carrier<Client>) => void;
  readonly fail: (error: QueueLockError) => void;
  isSent: boolean;
}

// Enough to keep a far server busy. All others wait here, where a heartbeat can overtake them: thousands of waiters look
// again at once after a reconnect, and in a connection nothing overtakes anything.
const MAX_AT_ONCE = 100;

/**
 * The calls of one session that have not been answered, sent in their order, a hundred at once. Without a connection they wait
 * for the next one. None waits for the server longer than the timeout: the native client forgets some calls altogether, and
 * notices a silent server only after two thirds of the session timeout.
 */
export class Calls<Client> {
  readonly #timeoutMs: number;
  readonly #leave: (task: () => void) => unknown;
  /** All that have not been answered. */
  readonly #pending = new Set<Call<Client>>();
  /** Lines of those that have not been sent, and of some that are not pending any more. */
  readonly #urgent: Call<Client>[] = [];
  readonly #others: Call<Client>[] = [];
  /** Sent over the present connection. */
  readonly #underWay = new Set<Call<Client>>();
  #answers = 0;
  #carrier: Carrier<Client> | undefined;
  #ended: QueueLockError | undefined;

  /** @param leave runs what an answer leads to outside of the client that brings it; default: at once */
  constructor(
    timeoutMs: number,
    leave: (task: () => void) => unknown = (task) => {
      task();
    },
  ) {
    this.#timeoutMs = timeoutMs;
    this.#leave = leave;
  }

  /** Sends and waits. `what` says what is sent, for errors. Each request gets a callback of its own. */
  issue<V extends unknown[]>(
    what: string,
    request: Request<V, Client>,
    { urgent = false }: CallOption = {},
  ): Promise<Answer<V>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended);
        return;
      }
      // Of its patience, while it has one.
      let cancel = (): void => undefined;
      const settle = (): boolean => {
        cancel();
        this.#underWay.delete(call);
        return this.#pending.delete(call);
      };
      const fail = (error: QueueLockError): void => {
        if (settle()) reject(error);
      };
      const send = (carrier: Carrier<Client>): void => {
        cancel();
        cancel = this.#patience(call, what);
        const refusal = carrier.send((client) =>
          request(client, (code, _text, ...values) => {
            this.#leave(() => {
              this.#answers += 1;
              if (settle()) resolve({ code, values });
              this.#advance();
            });
          }),
        );
        if (refusal !== 0) fail(errorOf(refusal, what));
      };
      const call: Call<Client> = { send, fail, isSent: false };
      this.#pending.add(call);
      (urgent ? this.#urgent : this.#others).push(call);
      this.#advance();
      if (!call.isSent) cancel = this.#patience(call, what);
    });
  }

  /** There is a connection: what waited goes first. */
  carryBy(carrier: Carrier<Client>): void {
    this.#carrier = carrier;
    this.#advance();
  }

  /** There is no connection until the next `carryBy`. What was sent is answered by the native client, with an error. */
  park(): void {
    this.#carrier = undefined;
    this.#underWay.clear();
  }

  /** Fails what waits, and all that comes. */
  end(error: QueueLockError): void {
    this.#ended ??= error;
    for (const { fail } of this.#pending) fail(this.#ended);
  }

  /** Sends what may be sent. A connection that breaks meanwhile ends it. */
  #advance(): void {
    while (this.#carrier) {
      const isFull = this.#underWay.size >= MAX_AT_ONCE;
      const call = this.#urgent.shift() ?? (isFull ? undefined : this.#others.shift());
      if (!call) return;
      if (!this.#pending.has(call)) continue;
      call.isSent = true;
      this.#underWay.add(call);
      call.send(this.#carrier);
    }
  }

  /** Fails the call when its time is over, unless it stands in a line that moves. */
  #patience(call: Call<Client>, what: string): () => void {
    const answers = this.#answers;
    let cancel = afterQuietLoop(this.#timeoutMs, () => {
      if (!call.isSent && this.#answers > answers) {
        cancel = this.#patience(call, what);
        return;
      }
      call.fail(noAnswer(what, this.#timeoutMs));
      this.#advance();
    });
    return () => {
      cancel();
    };
  }
}
