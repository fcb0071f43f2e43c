import { unreadableReply } from '@queuelock/core/backend';
import { asQueueLockError, wordOf } from '../driver/errors.ts';
import type { Keys } from '../queue/keys.ts';
import type { Link } from './link.ts';
import type { Script } from '../lua/script.ts';

/** Reply of a script: a word for the outcome, and further values. */
export interface Answer {
  /**
   * Outcome of a step. `lost`: the session has ended. `removed`: the entry was removed and must not be added
   * again. `busy`: the entry was not added, since it would have to wait. `other`: the store has an entry of
   * that id, but with other properties, such as another mode.
   */
  readonly word: 'ok' | 'lost' | 'removed' | 'busy' | 'other';
  readonly rest: readonly unknown[];
}

const WORDS: readonly unknown[] = [
  'ok',
  'lost',
  'removed',
  'busy',
  'other',
] satisfies readonly Answer['word'][];

function isResponse(reply: unknown): reply is readonly [Answer['word'], ...unknown[]] {
  return Array.isArray(reply) && WORDS.includes(reply[0]);
}

/** Runs steps on the store. Each step is one command, or two when the server does not know the script yet. */
export class Steps {
  readonly #link: Link;
  readonly #keys: Keys;
  readonly #endpoint: string;

  constructor(link: Link, { keys, endpoint }: { readonly keys: Keys; readonly endpoint: string }) {
    this.#link = link;
    this.#keys = keys;
    this.#endpoint = endpoint;
  }

  /** Runs a script with the given arguments. Renewals bypass the limit of commands in flight. @throws {QueueLockError} the error that `asQueueLockError` returns */
  async take(script: Script, ...args: readonly string[]): Promise<Answer> {
    const rest = ['2', this.#keys.meta, this.#keys.absent, ...args];
    try {
      const isUrgent = script.name === 'renew';
      const response = await this.#link
        .send(['EVALSHA', script.sha, ...rest], isUrgent)
        .catch((error: unknown) => {
          if (wordOf(error) !== 'NOSCRIPT') throw error;
          return this.#link.send(['EVAL', script.text, ...rest], isUrgent);
        });
      if (isResponse(response)) return { word: response[0], rest: response.slice(1) };
      const error = unreadableReply(this.#endpoint, `the step ${script.name}`, response);
      this.#link.renew(error);
      throw error;
    } catch (error) {
      throw asQueueLockError(error, this.#endpoint);
    }
  }

  /**
   * Sends a plain command of Redis, for instance `INFO`.
   * @throws {QueueLockError} the error that `asQueueLockError` returns
   */
  async ask(...args: readonly string[]): Promise<unknown> {
    try {
      return await this.#link.send(args);
    } catch (error) {
      throw asQueueLockError(error, this.#endpoint);
    }
  }
}
