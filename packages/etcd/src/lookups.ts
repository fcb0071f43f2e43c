import { isQueueLockError } from '@queuelock/core/backend';
import type { Connection } from './connection.ts';
import { look } from './txn.ts';

/** A key, of one life only if that is named. */
export interface Sought {
  readonly key: Buffer;
  readonly createRevision?: string;
}

interface Question {
  readonly ref: Sought;
  readonly answer: (there: boolean) => void;
  readonly fail: (error: unknown) => void;
}

// Half of what a server allows in one transaction by default.
const QUESTIONS = 64;

/**
 * Whether keys are still there. What is asked while a read is on its way goes together into the next one, so a thousand
 * waiters whose watches are live again after a reconnect do not send a thousand reads.
 */
export class Lookups {
  readonly #connection: Connection;
  readonly #waiting: Question[] = [];
  #reading = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Linearizable, and sent after this call. `false` too when another life of the key was asked for. */
  isThere(ref: Sought): Promise<boolean> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ ref, answer, fail });
      if (!this.#reading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    while (this.#waiting.length > 0) await this.#read(this.#waiting.splice(0, QUESTIONS));
    this.#reading = false;
  }

  async #read(questions: readonly Question[]): Promise<void> {
    const txn = { success: questions.map(({ ref }) => look(ref.key)) };
    try {
      const { responses } = await this.#connection.ask('reading entries', (etcd, options) =>
        etcd.kv.txn(txn, options),
      );
      questions.forEach(({ ref, answer }, i) => {
        const there = responses[i]?.response_range.kvs[0]?.create_revision;
        answer(there !== undefined && there === (ref.createRevision ?? there));
      });
    } catch (error) {
      // The server refuses all of them when one is not permitted.
      const alone = questions.length === 1 || !isQueueLockError(error, 'ACCESS_DENIED');
      for (const question of questions) {
        if (alone) question.fail(error);
        else await this.#read([question]);
      }
    }
  }
}
