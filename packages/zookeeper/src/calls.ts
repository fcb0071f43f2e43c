import type { QueueLockError } from '@queuelock/core/backend';
import { errorOf, noAnswer } from './errors.ts';
import type { NativeClient } from './native.ts';

/** A result code of ZooKeeper and, with code 0, what came with it. */
export interface Answer<V extends unknown[]> {
  readonly code: number;
  readonly values: V;
}

/** Hands one request to a native client: 0, or the code that says why it was not taken. */
export type Request<V extends unknown[]> = (
  native: NativeClient,
  done: (code: number, text: string, ...values: V) => void,
) => number;

/** Carries requests to the server, in their order. */
export interface Carrier {
  send(request: (native: NativeClient) => number): number;
}

/**
 * The calls of one session that have not been answered. Without a connection they wait for the next one, in their order.
 * None waits longer than the timeout: the native client forgets some calls altogether, and notices a silent server only
 * after two thirds of the session timeout.
 */
export class Calls {
  readonly #timeoutMs: number;
  readonly #pending = new Set<(error: QueueLockError) => void>();
  readonly #parked = new Set<(carrier: Carrier) => void>();
  #carrier: Carrier | undefined;
  #ended: QueueLockError | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Sends and waits. `what` says what is sent, for errors. Each request gets a callback of its own. */
  issue<V extends unknown[]>(what: string, request: Request<V>): Promise<Answer<V>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended);
        return;
      }
      const settle = (): boolean => {
        cancel();
        this.#parked.delete(send);
        return this.#pending.delete(fail);
      };
      const fail = (error: QueueLockError): void => {
        if (settle()) reject(error);
      };
      const send = (carrier: Carrier): void => {
        const refusal = carrier.send((native) =>
          request(native, (code, _text, ...values) => {
            setImmediate(() => {
              if (settle()) resolve({ code, values });
            });
          }),
        );
        if (refusal !== 0) fail(errorOf(refusal, what));
      };
      const cancel = afterQuietLoop(this.#timeoutMs, () => fail(noAnswer(what, this.#timeoutMs)));
      this.#pending.add(fail);
      if (this.#carrier) send(this.#carrier);
      else this.#parked.add(send);
    });
  }

  /** There is a connection: what was parked goes first. */
  carryBy(carrier: Carrier): void {
    this.#carrier = carrier;
    for (const send of this.#parked) {
      this.#parked.delete(send);
      send(carrier);
    }
  }

  /** There is no connection until the next `carryBy`. What was sent is answered by the native client, with an error. */
  park(): void {
    this.#carrier = undefined;
  }

  /** Fails what waits, and all that comes. */
  end(error: QueueLockError): void {
    this.#ended ??= error;
    for (const fail of this.#pending) fail(this.#ended);
  }
}

/** As `setTimeout`, but lets answers that came while the event loop was blocked go first. */
function afterQuietLoop(ms: number, task: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(() => {
      immediate = setImmediate(task);
    });
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}
