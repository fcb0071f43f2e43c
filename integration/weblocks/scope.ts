import { createContext, runInContext } from 'node:vm';
import type { LockManager, LockOptions } from '@queuelock/weblocks';

/** The functions of `navigator.locks` that a web worker or a frame may call. */
export interface Locks extends Pick<LockManager, 'query'> {
  request(name: string, options: LockOptions, callback: () => unknown): Promise<unknown>;
}

/** A worker or a frame, as seen by the page. */
export interface Context {
  /**
   * Sends a message. Resolves when the store has handled the lock requests that the message has caused. The
   * page sends its next message only then.
   */
  post(data: unknown): Promise<void>;
  /**
   * Requests a lock for the worker or frame, which holds it until it is killed. Resolves when the lock is
   * granted.
   */
  hold(name: string): Promise<void>;
  /** Kills the worker or frame at once, without a notification. */
  kill(): void;
}

/** The global scope of a worker or a frame: runs its script with the globals that the script needs. */
export class ScriptScope extends EventTarget {
  readonly #locks: Locks;
  readonly #send: (data: unknown) => void;
  #outgoing: Promise<unknown> = Promise.resolve();

  /** Runs the script. `send` sends a message to the page. */
  constructor(script: string, locks: Locks, send: (data: unknown) => void) {
    super();
    this.#locks = locks;
    this.#send = send;
    const globals: Record<string, unknown> = {
      navigator: { locks },
      addEventListener: this.addEventListener.bind(this),
      parent: { postMessage: (data: unknown) => this.postMessage(data) },
      AbortController,
    };
    runInContext(script, createContext(Object.assign(globals, { self: globals })));
  }

  /**
   * Posts a message to the page. In the script of a web worker, a listener calls it as a method of the
   * event's target, which is this scope.
   */
  postMessage(data: unknown): void {
    // Waits until the store has handled the lock requests that the script made before. In a browser, messages
    // and lock requests take the same path, so a message cannot overtake an earlier request.
    this.#outgoing = this.#outgoing.then(() => settled(this.#locks)).then(() => this.#send(data));
  }

  /**
   * Dispatches a message of the page. Resolves when the store has handled the lock requests that the message
   * has caused.
   */
  async hear(data: unknown): Promise<void> {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
    await settled(this.#locks);
  }

  hold(name: string): Promise<void> {
    return new Promise((resolve) => {
      void this.#locks.request(name, {}, () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
  }
}

/** Resolves when the store has handled all lock requests that this process has made so far. */
export async function settled(locks: Locks): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await locks.query();
}
