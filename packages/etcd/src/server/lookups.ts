import type { Connection } from './connection.ts';
import { isRefusalOfOne } from '../base/gathering.ts';
import { look } from '../queue/txn.ts';

/** A key to read. With a create revision, only that creation of the key counts. */
export interface Sought {
  readonly key: Buffer;
  readonly createRevision?: string;
}

/** The result of a read. */
export interface Seen {
  /** Whether the key exists, and was created at the given revision. */
  readonly there: boolean;
  /** The revision of the store at the time of the read. */
  readonly revision: bigint;
}

/** How a read is sent. */
export interface LookOptions {
  /** Whether the read may wait up to 20 ms for the next batch. Default `false`. */
  readonly patient?: boolean;
  /** Returns whether the result is still needed when the batch is sent. Otherwise the promise stays pending. Default: always. */
  readonly isWanted?: () => boolean;
}

interface Question {
  readonly ref: Sought;
  readonly isWanted: () => boolean;
  readonly answer: (seen: Seen) => void;
  readonly fail: (error: unknown) => void;
}

// Half of the operations that a server allows in one transaction by default.
const QUESTIONS = 64;
const PATIENCE_MS = 20;

/**
 * Reads whether keys still exist, in batches. Reads that are requested while a batch is in flight share the next one, so a thousand waiters
 * whose watches are live again after a reconnect do not send a thousand requests.
 */
export class Lookups {
  readonly #connection: Connection;
  readonly #waiting: Question[] = [];
  #patience: ReturnType<typeof setTimeout> | undefined;
  #reading = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads a key by a linearizable request that is sent after this call. Resolves in the order of the calls. */
  look(ref: Sought, { patient = false, isWanted = always }: LookOptions = {}): Promise<Seen> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ ref, isWanted, answer, fail });
      if (this.#reading) return;
      if (patient) this.#patience ??= setTimeout(() => void this.#readAll(), PATIENCE_MS);
      else void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#reading = true;
    for (let next = this.#next(); next.length > 0; next = this.#next()) await this.#read(next);
    this.#reading = false;
  }

  #next(): readonly Question[] {
    const wanted = this.#waiting.splice(0).filter(({ isWanted }) => isWanted());
    this.#waiting.push(...wanted.splice(QUESTIONS));
    return wanted;
  }

  async #read(questions: readonly Question[]): Promise<void> {
    const txn = { success: questions.map(({ ref }) => look(ref.key)) };
    try {
      const { header, responses } = await this.#connection.ask('reading entries', (etcd, options) =>
        etcd.txn(txn, options),
      );
      const revision = BigInt(header.revision);
      questions.forEach(({ ref, answer }, i) => {
        const there = responses[i]?.response_range.kvs[0]?.create_revision;
        answer({ there: there !== undefined && there === (ref.createRevision ?? there), revision });
      });
    } catch (error) {
      // The server refuses the whole batch if one read is not permitted, or if the batch is too large for it.
      const alone = questions.length === 1 || !isRefusalOfOne(error);
      for (const question of questions) {
        if (alone) question.fail(error);
        else await this.#read([question]);
      }
    }
  }
}

function always(): boolean {
  return true;
}
