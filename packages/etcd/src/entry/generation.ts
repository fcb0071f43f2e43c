import { QueueLockError } from '@queuelock/core/backend';
import type { IKeyValue, IRequestOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { isAnother, put, remove } from '../queue/txn.ts';

const WRITING = "writing the session's generation";

/** Whose generation it is. */
export interface GenerationOptions {
  readonly key: Buffer;
  readonly lease: string;
  /** Names this process, and no other one. */
  readonly owner: string;
}

/**
 * A private key of the session, whose revision every enqueue compares. A removal that cannot know whether an enqueue is
 * still on its way deletes the entry and writes this key in one transaction: whatever comes later was sent for an older
 * generation and is refused. The key does not exist (generation 0) until that is needed.
 *
 * Its value is the process that the session belongs to: that which has written it last by taking the session over. Another one, which
 * may have been frozen meanwhile, reads it with each proof and each refusal, and has lost the session.
 */
export class Generation {
  readonly key: Buffer;
  readonly #connection: Connection;
  readonly #lease: string;
  readonly #owner: Buffer;
  #value = 0n;
  #isOthers = false;
  #isExported = false;

  constructor(connection: Connection, { key, lease, owner }: GenerationOptions) {
    this.#connection = connection;
    this.key = key;
    this.#lease = lease;
    this.#owner = Buffer.from(owner);
  }

  /** The newest that is known: the revision at which the key was last written. */
  get value(): bigint {
    return this.#value;
  }

  /** Whether another process has taken the session over, as far as this one has seen. */
  get isOthers(): boolean {
    return this.#isOthers;
  }

  /** Whether another process may resume the session: it was exported, or was resumed here, so that a text to resume it is somewhere. */
  get isExported(): boolean {
    return this.#isExported;
  }

  noteExport(): void {
    this.#isExported = true;
  }

  /**
   * Carries the transaction out unless another process has resumed the session; then it rejects with `SESSION_LOST`. Needed for removals once
   * the session was exported: one that arrives late would remove what the other process holds.
   */
  async guard(what: string, txn: ITxnRequest): Promise<Pick<ITxnResponse, 'succeeded' | 'responses'>> {
    if (!this.#isExported) return this.#connection.ask(what, (etcd, options) => etcd.txn(txn, options));
    const guarded = { compare: [isAnother(this.key, this.#owner)], failure: [{ request_txn: txn }] };
    const { succeeded, responses } = await this.#connection.ask(what, (etcd, options) =>
      etcd.txn(guarded, options),
    );
    const [done] = responses;
    if (succeeded || !done?.response_txn) throw this.#lost();
    return done.response_txn;
  }

  /** What the server has, of the key with its value. Throws `SESSION_LOST` if another process has taken the session over. */
  read(stored: IKeyValue | undefined): bigint {
    if (!stored) return 0n;
    if (!stored.value.equals(this.#owner)) throw this.#lost();
    return BigInt(stored.mod_revision);
  }

  /**
   * After an enqueue that compared `used` was refused because the server had `seen`: goes on with the newer one.
   * A key that went back was removed by somebody; it is written anew, for an old value is never trusted again.
   */
  async follow({ used, seen }: { readonly used: bigint; readonly seen: bigint }): Promise<void> {
    if (seen < used) await this.#write([]);
    else if (seen > this.#value) this.#value = seen;
  }

  /** Takes the session over, whoever had it: refuses every enqueue that was sent before. Rejects with `SESSION_LOST` if the lease has ended. */
  async takeOver(): Promise<bigint> {
    const success = [this.#put()];
    this.#note(await this.#connection.ask(WRITING, (etcd, options) => etcd.txn({ success }, options)));
    this.#isExported = true;
    return this.#value;
  }

  /** Removes the entry for good, and does what else belongs to that; `true` if it was there. */
  async removeForGood(entryKey: Buffer, more: readonly IRequestOp[]): Promise<boolean> {
    const { responses } = await this.#write([remove(entryKey), ...more]);
    return responses[0]?.response_delete_range.deleted === '1';
  }

  /** Unless another process has the session. */
  async #write(first: readonly IRequestOp[]): Promise<ITxnResponse> {
    const txn = { compare: [isAnother(this.key, this.#owner)], failure: [...first, this.#put()] };
    const response = await this.#connection.ask(WRITING, (etcd, options) => etcd.txn(txn, options));
    if (response.succeeded) throw this.#lost();
    this.#note(response);
    return response;
  }

  #put(): IRequestOp {
    return put(this.key, this.#owner.toString(), this.#lease);
  }

  #note({ header }: ITxnResponse): void {
    const written = BigInt(header.revision);
    if (written > this.#value) this.#value = written;
  }

  #lost(): QueueLockError {
    this.#isOthers = true;
    return new QueueLockError('SESSION_LOST', 'another process has resumed the session');
  }
}
