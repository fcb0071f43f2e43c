import type { IRequestOp, ITxnResponse } from 'etcd3';
import type { Connection } from './connection.ts';
import { put, remove } from './txn.ts';

const WRITING = "writing the session's generation";

/**
 * A private key of the session, whose revision every enqueue compares. A removal that cannot know whether an enqueue is
 * still on its way deletes the entry and writes this key in one transaction: whatever comes later was sent for an older
 * generation and is refused. The key does not exist (generation 0) until that is needed.
 */
export class Generation {
  readonly key: Buffer;
  readonly #connection: Connection;
  readonly #lease: string;
  #value = 0n;

  constructor(connection: Connection, { key, lease }: { readonly key: Buffer; readonly lease: string }) {
    this.#connection = connection;
    this.key = key;
    this.#lease = lease;
  }

  /** The newest that is known: the revision at which the key was last written. */
  get value(): bigint {
    return this.#value;
  }

  /**
   * After an enqueue that compared `used` was refused because the server had `seen`: goes on with the newer one.
   * A key that went back was removed by somebody; it is written anew, for an old value is never trusted again.
   */
  async follow({ used, seen }: { readonly used: bigint; readonly seen: bigint }): Promise<void> {
    if (seen < used) await this.#write([]);
    else if (seen > this.#value) this.#value = seen;
  }

  /** Refuses every enqueue that was sent before, also by another process. Rejects with `SESSION_LOST` if the lease has ended. */
  async raise(): Promise<bigint> {
    await this.#write([]);
    return this.#value;
  }

  /** Removes the entry for good, and does what else belongs to that; `true` if it was there. */
  async removeForGood(entryKey: Buffer, more: readonly IRequestOp[]): Promise<boolean> {
    const { responses } = await this.#write([remove(entryKey), ...more]);
    return responses[0]?.response_delete_range.deleted === '1';
  }

  async #write(first: readonly IRequestOp[]): Promise<ITxnResponse> {
    const success = [...first, put(this.key, '', this.#lease)];
    const response = await this.#connection.ask(WRITING, (etcd, options) => etcd.txn({ success }, options));
    const written = BigInt(response.header.revision);
    if (written > this.#value) this.#value = written;
    return response;
  }
}
