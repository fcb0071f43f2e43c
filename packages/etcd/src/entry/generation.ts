import { QueueLockError } from '@queuelock/core/backend';
import type { IKeyValue, IRequestOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { Connection, SendOptions } from '../server/connection.ts';
import { isAnother, put, remove, valueIs } from '../queue/txn.ts';

const WRITING = "writing the session's generation";
/** Value of the private key of a session that was closed. No process can resume it. It is no owner, since owners have random names. */
const CLOSED = Buffer.from('closed');

/** The session's private key, its lease, and the process that has the session. */
export interface GenerationOptions {
  readonly key: Buffer;
  readonly lease: string;
  /** A text that identifies this process, as the one that has the session. */
  readonly owner: string;
}

/**
 * A private key of a session, whose revision is the session's generation. Every enqueue transaction requires that the key still has the revision that
 * the client knows. If the session removes an entry whose enqueue may still be in flight, it also writes this key. The late enqueue then requires an
 * older revision of the key, and is refused. The key does not exist (generation 0) until it is first needed.
 *
 * The value of the key names the process that has the session. After a resumption this is the new process. The old process may have been paused. It
 * finds the changed value in its next heartbeat proof, or when its next enqueue is refused. Then it treats the session as lost.
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

  /** The newest known generation: the revision at which the session's private key was last written. */
  get value(): bigint {
    return this.#value;
  }

  /** Whether this process has found that another process has taken the session over. */
  get isOthers(): boolean {
    return this.#isOthers;
  }

  /** Whether another process may resume the session, because it was exported or was resumed here. */
  get isExported(): boolean {
    return this.#isExported;
  }

  noteExport(): void {
    this.#isExported = true;
  }

  /**
   * Sends a transaction that has no effect if another process has resumed the session, and then rejects with `SESSION_LOST`. Removals need this
   * after the session was exported, because a late one could remove an entry that the other process now holds.
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

  /** Returns the generation in the store. Throws `SESSION_LOST` if another process has taken the session over. */
  read(stored: IKeyValue | undefined): bigint {
    if (!stored) return 0n;
    if (!stored.value.equals(this.#owner)) throw this.#lost();
    return BigInt(stored.mod_revision);
  }

  /**
   * Adopts the generation in the store after the server refused an enqueue. `used` is the generation that the enqueue required, and `seen` the one in
   * the store. If `seen` is smaller, another client has deleted the private key. The key is then written again, since an old revision must never be
   * valid again.
   */
  async follow({ used, seen }: { readonly used: bigint; readonly seen: bigint }): Promise<void> {
    if (seen < used) await this.#write([]);
    else if (seen > this.#value) this.#value = seen;
  }

  /**
   * Takes the session over from any process. Earlier enqueues are refused from then on. Rejects with `SESSION_LOST` if the lease has ended, or the
   * session was closed.
   */
  async takeOver(): Promise<bigint> {
    const txn = { compare: [valueIs(this.key, CLOSED)], failure: [this.#put()] };
    const response = await this.#connection.ask(WRITING, (etcd, options) => etcd.txn(txn, options));
    if (response.succeeded) throw new QueueLockError('SESSION_LOST', 'the session was closed');
    this.#note(response);
    this.#isExported = true;
    return this.#value;
  }

  /**
   * Ensures that no other process has the session, or resumes it later, so that its lease can be revoked. Only a session that was exported needs a
   * request. Returns false if another process has the session, or the store does not respond.
   */
  async close(options: SendOptions): Promise<boolean> {
    if (this.#isOthers || !this.#isExported) return !this.#isOthers;
    const closing = { request_put: { key: this.key, value: CLOSED, lease: this.#lease } };
    const txn = { compare: [isAnother(this.key, this.#owner)], failure: [closing] };
    const closed = this.#connection.call('closing a session', (etcd, given) => etcd.txn(txn, given), options);
    return closed.then(
      ({ succeeded }) => !succeeded,
      () => false,
    );
  }

  /**
   * Removes the entry and writes the private key, so that no late enqueue can create the entry again. Resolves with whether the entry existed.
   */
  async removeForGood(entryKey: Buffer, more: readonly IRequestOp[]): Promise<boolean> {
    const { responses } = await this.#write([remove(entryKey), ...more]);
    return responses[0]?.response_delete_range.deleted === '1';
  }

  /** Writes the session's private key, unless another process has resumed the session. */
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
