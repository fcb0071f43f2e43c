import { asQueueLockError, wordOf } from '../driver/errors.ts';
import type { Keys } from '../queue/keys.ts';
import type { Link } from './link.ts';
import type { Script } from '../lua/script.ts';

/** What a script answers: a word, and what belongs to it. */
export interface Answer {
  /** `lost`: the session has ended. `removed`: the entry is never to be there. `busy`: it would have to wait. `other`: it is another one than is wished for. */
  readonly word: 'ok' | 'lost' | 'removed' | 'busy' | 'other';
  readonly rest: readonly unknown[];
}

/** Takes steps on the store: one command each, once the server knows the script. */
export class Steps {
  readonly #link: Link;
  readonly #keys: Keys;
  readonly #endpoint: string;

  constructor(link: Link, { keys, endpoint }: { readonly keys: Keys; readonly endpoint: string }) {
    this.#link = link;
    this.#keys = keys;
    this.#endpoint = endpoint;
  }

  /** @throws {QueueLockError} */
  async take(script: Script, ...args: readonly string[]): Promise<Answer> {
    const rest = ['2', this.#keys.meta, this.#keys.absent, ...args];
    try {
      const isUrgent = script.name === 'renew';
      const answer = await this.#link
        .send(['EVALSHA', script.sha, ...rest], isUrgent)
        .catch((error: unknown) => {
          if (wordOf(error) !== 'NOSCRIPT') throw error;
          return this.#link.send(['EVAL', script.text, ...rest], isUrgent);
        });
      const [word, ...said] = answer as [Answer['word'], ...unknown[]];
      return { word, rest: said };
    } catch (error) {
      throw asQueueLockError(error, this.#endpoint);
    }
  }

  /** A command of the server's own. @throws {QueueLockError} */
  async ask(...args: readonly string[]): Promise<unknown> {
    try {
      return await this.#link.send(args);
    } catch (error) {
      throw asQueueLockError(error, this.#endpoint);
    }
  }
}
