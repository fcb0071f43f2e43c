import { createContext, runInContext } from 'node:vm';
import type { LockManager, LockOptions } from '@queuelock/weblocks';

/** What is asked of locks in a worker or a frame. */
export interface Locks extends Pick<LockManager, 'query'> {
  request(name: string, options: LockOptions, callback: () => unknown): Promise<unknown>;
}

/** A worker or a frame, as the page sees it. */
export interface Context {
  /** Hands it a message; the next one of the page waits until what this one asks of the locks is certain. */
  post(data: unknown): Promise<void>;
  /** Asks for a lock in its name, which it holds until it dies; settles when it is granted. */
  hold(name: string): Promise<void>;
  /** At once, and without a word to anybody. */
  kill(): void;
}

/** What runs inside of one: its script with the globals that it needs. */
export class ScriptScope extends EventTarget {
  readonly #locks: Locks;
  readonly #send: (data: unknown) => void;
  #outgoing: Promise<unknown> = Promise.resolve();

  /** `send` hands a message to the page. */
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

  /** Listeners of workers call it on what they are called on. */
  postMessage(data: unknown): void {
    // In a browser messages and lock requests go the same way; here a message waits for what was asked of the locks before.
    this.#outgoing = this.#outgoing.then(() => settled(this.#locks)).then(() => this.#send(data));
  }

  /** Settles when what the message asks of the locks is certain. */
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

/** When all that this process has asked for until now is certain. */
export async function settled(locks: Locks): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await locks.query();
}
