import { createContext, runInContext } from 'node:vm';
import type { LockManager, LockOptions } from '@queuelock/weblocks';

/** Lock functions of a worker or a frame. */
export interface Locks extends Pick<LockManager, 'query'> {
  request(name: string, options: LockOptions, callback: () => unknown): Promise<unknown>;
}

/** A worker or a frame as the page uses it. */
export interface Context {
  /**
   * Sends a message. The page's next message waits until the lock requests that this one causes are certain.
   */
  post(data: unknown): Promise<void>;
  /**
   * Requests a lock in the name of the context. The context holds it until it is killed. Resolves when the
   * lock is granted.
   */
  hold(name: string): Promise<void>;
  /** Kills the context at once, without a notification. */
  kill(): void;
}

/** The inside of a worker or a frame: a script with the globals that it needs. */
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
   * Posts a message to the page. Listeners of workers call this method on the object on which they are
   * called.
   */
  postMessage(data: unknown): void {
    // In a browser, messages and lock requests take the same path. So a message waits here until the lock
    // requests that were made before it are done.
    this.#outgoing = this.#outgoing.then(() => settled(this.#locks)).then(() => this.#send(data));
  }

  /** Handles a message of the page. Resolves when the lock requests that it causes are certain. */
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

/** Resolves when all lock requests that this process has made so far are certain. */
export async function settled(locks: Locks): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await locks.query();
}
