import type { Connection } from './connection.ts';
import { isRefusalOfOne } from '../base/batcher.ts';
import { readMetadata } from '../queue/txn.ts';

/** A key whose existence is to be read. If `createRevision` is set, a key that was created at another revision counts as missing. */
export interface KeyToRead {
  readonly key: Buffer;
  readonly createRevision?: string;
}

/** What a read of a key has found. */
export interface KeyState {
  /** Whether the key exists and, if the read requires a create revision, has that revision. */
  readonly exists: boolean;
  /** The revision of the store when the key was read. */
  readonly revision: bigint;
}

/** Options of the read of one key: whether it may wait for a batch, and whether its result is still needed. */
export interface ReadOptions {
  /** Whether the read of the key may wait up to 20 ms for the next batch. Default `false`. */
  readonly mayWait?: boolean;
  /** Returns whether the caller still needs the result when the batch is sent. If not, the promise stays pending. Default: always. */
  readonly isNeeded?: () => boolean;
}

interface PendingRead {
  readonly ref: KeyToRead;
  readonly isNeeded: () => boolean;
  readonly resolve: (seen: KeyState) => void;
  readonly reject: (error: unknown) => void;
}

// Maximum number of reads in one batch: half of the operations that a server allows in one transaction by default.
const MAX_BATCH = 64;
const MAX_DELAY_MS = 20;

/**
 * Reads whether keys still exist, in batches. Reads that are requested while a batch is in flight form the next batch. So a thousand
 * waiters that read after a reconnect do not send a thousand requests.
 */
export class Lookups {
  readonly #connection: Connection;
  readonly #waiting: PendingRead[] = [];
  #delay: ReturnType<typeof setTimeout> | undefined;
  #reading = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads a key by a linearizable request that is sent after this call. The promises resolve in the order of the calls. */
  read(ref: KeyToRead, { mayWait = false, isNeeded = always }: ReadOptions = {}): Promise<KeyState> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ref, isNeeded, resolve, reject });
      if (this.#reading) return;
      if (mayWait) this.#delay ??= setTimeout(() => void this.#readAll(), MAX_DELAY_MS);
      else void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    clearTimeout(this.#delay);
    this.#delay = undefined;
    this.#reading = true;
    for (let next = this.#nextBatch(); next.length > 0; next = this.#nextBatch()) await this.#read(next);
    this.#reading = false;
  }

  #nextBatch(): readonly PendingRead[] {
    const needed = this.#waiting.splice(0).filter(({ isNeeded }) => isNeeded());
    this.#waiting.push(...needed.splice(MAX_BATCH));
    return needed;
  }

  async #read(reads: readonly PendingRead[]): Promise<void> {
    const txn = { success: reads.map(({ ref }) => readMetadata(ref.key)) };
    try {
      const { header, responses } = await this.#connection.ask('reading entries', (etcd, options) =>
        etcd.txn(txn, options),
      );
      const revision = BigInt(header.revision);
      reads.forEach(({ ref, resolve }, i) => {
        const exists = responses[i]?.response_range.kvs[0]?.create_revision;
        resolve({ exists: exists !== undefined && exists === (ref.createRevision ?? exists), revision });
      });
    } catch (error) {
      // If one read is not permitted, or the batch is too large, the server refuses the whole batch. Then each read is repeated alone.
      const alone = reads.length === 1 || !isRefusalOfOne(error);
      for (const read of reads) {
        if (alone) read.reject(error);
        else await this.#read([read]);
      }
    }
  }
}

function always(): boolean {
  return true;
}
