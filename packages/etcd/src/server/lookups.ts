import type { Connection } from './connection.ts';
import { isRefusalOfOne } from '../base/gathering.ts';
import { look } from '../queue/txn.ts';

/** A key, of one life only if that is named. */
export interface Sought {
  readonly key: Buffer;
  readonly createRevision?: string;
}

/** What a look has seen. */
export interface Seen {
  /** `false` too when another life of the key was asked for. */
  readonly there: boolean;
  /** The store's, at that point. */
  readonly revision: bigint;
}

/** How a look is made. */
export interface LookOptions {
  /** With the next one that is not, or after 20 ms. */
  readonly patient?: boolean;
  /** Whoever does not want it any more when it is sent gets no answer. */
  readonly isWanted?: () => boolean;
}

interface Question {
  readonly ref: Sought;
  readonly isWanted: () => boolean;
  readonly answer: (seen: Seen) => void;
  readonly fail: (error: unknown) => void;
}

// Half of what a server allows in one transaction by default.
const QUESTIONS = 64;
const PATIENCE_MS = 20;

/**
 * Whether keys are still there. What is asked while a read is on its way goes together into the next one, so a thousand
 * waiters whose watches are live again after a reconnect do not send a thousand reads.
 */
export class Lookups {
  readonly #connection: Connection;
  readonly #waiting: Question[] = [];
  #patience: ReturnType<typeof setTimeout> | undefined;
  #reading = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Linearizable, and sent after this call. Answered in the order of the calls. */
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
      // The server refuses all of them when one is not permitted, or when they are too many for it.
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
