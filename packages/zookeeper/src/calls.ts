import type { QueueLockError } from '@queuelock/core/backend';
import { errorOf, noAnswer } from './errors.ts';

/** A result code of ZooKeeper and, with code 0, what came with it. */
export interface Answer<V extends unknown[]> {
  readonly code: number;
  readonly values: V;
}

/** Hands a request to the native client: 0, or the code that says why it was not taken. */
export type Send<V extends unknown[]> = (done: (code: number, text: string, ...values: V) => void) => number;

/**
 * The calls of one connection that have not been answered yet. The native client forgets some of them: a call on a
 * closed handle never calls back, and a silent server is noticed after two thirds of the session timeout.
 */
export class Calls {
  readonly #timeoutMs: number;
  readonly #pending = new Set<(error: QueueLockError) => void>();
  #ended: QueueLockError | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Sends and waits, for at most the timeout. `what` says what is sent, for errors. */
  issue<V extends unknown[]>(what: string, send: Send<V>): Promise<Answer<V>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended);
        return;
      }
      const fail = (error: QueueLockError): void => {
        if (settle()) reject(error);
      };
      const settle = (): boolean => {
        cancel();
        return this.#pending.delete(fail);
      };
      const cancel = afterQuietLoop(this.#timeoutMs, () => fail(noAnswer(what, this.#timeoutMs)));
      this.#pending.add(fail);
      const refusal = send((code, _text, ...values) => {
        setImmediate(() => {
          if (settle()) resolve({ code, values });
        });
      });
      if (refusal !== 0) fail(errorOf(refusal, what));
    });
  }

  /** Fails what waits, and all that comes. */
  end(error: QueueLockError): void {
    this.#ended ??= error;
    for (const fail of [...this.#pending]) fail(this.#ended);
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
