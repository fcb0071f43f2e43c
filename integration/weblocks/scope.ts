import { createContext, runInContext } from 'node:vm';
import type { LockManager, LockOptions } from '@queuelock/weblocks';

/** Lock functions of a worker or a frame. */
export interface Locks extends Pick<LockManager, 'query'> {
  request(name: string, options: LockOptions, callback: () => unknown): Promise<unknown>;
}

/** A worker or a frame, as the page sees it. */
export interface Context {
  /** Sends it a message; the next one of the page waits until the lock requests of this one are certain. */
  post(data: unknown): Promise<void>;
  /** Requests a lock in its name, which it holds until it is killed; resolves when it is granted. */
  hold(name: string): Promise<void>;
  /** Kills it at once, without a notification. */
  kill(): void;
}

/** The inside of a worker or a frame: its script with the globals that it needs. */
export class ScriptScope extends EventTarget {
  readonly #locks: Locks;
  readonly #send: (data: unknown) => void;
  #outgoing: Promise<unknown> = Promise.resolve();

  /** `send` sends a message to the page. */
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

  /** Listeners of workers call it on the object that they are called on. */
  postMessage(data: unknown): void {
    // In a browser messages and lock requests take the same path; here a message waits for the earlier lock requests.
    this.#outgoing = this.#outgoing.then(() => settled(this.#locks)).then(() => this.#send(data));
  }

  /** Resolves when the lock requests of the message are certain. */
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

/** Resolves when all lock requests of this process until now are certain. */
export async function settled(locks: Locks): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await locks.query();
}
