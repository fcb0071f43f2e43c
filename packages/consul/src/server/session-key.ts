import { QueueLockError, sessionLost } from '@queuelock/core/backend';
import { Lane } from '../base/lane.ts';
import { isNoSession } from '../driver/errors.ts';
import type { KvOperation } from '../driver/requests.ts';
import type { TxnResult } from '../driver/responses.ts';
import { isUnknown, unexpected, type Connection, type ReadOptions } from './connection.ts';

/** A session, its key, and the process that uses the session. */
export interface SessionKeyInit {
  readonly key: string;
  readonly session: string;
  /** A random text that identifies this process. Other processes that use the same session have other texts. */
  readonly owner: string;
}

const ATTEMPTS = 5;

/**
 * The key in the store that a session holds as long as it exists. Every transaction that changes the session's entries checks the index of this key.
 * A write of the key therefore invalidates all earlier requests that the server has not executed yet. That is needed after an enqueue whose outcome
 * is unknown, and when another process takes the session over. The value of the key identifies the process that uses the session.
 */
export class SessionKey {
  readonly key: string;
  readonly #session: string;
  /** A random text that identifies the process that uses the session. */
  readonly owner: string;
  readonly #connection: Connection;
  readonly #lane = new Lane();
  #index = 0n;
  #writes = 0;

  constructor(connection: Connection, { key, session, owner }: SessionKeyInit) {
    this.key = key;
    this.#session = session;
    this.owner = owner;
    this.#connection = connection;
  }

  /** Creates the key for a session that this process has just opened. */
  async create(): Promise<void> {
    const lock = {
      verb: 'lock',
      key: this.key,
      text: this.owner,
      session: this.#session,
      flags: 0,
    } as const;
    this.#accept(await this.#connection.txn([lock]));
  }

  /**
   * Takes the session over from another process, whose requests become invalid.
   * @throws {QueueLockError} `SESSION_LOST` when the session has ended
   */
  async takeOver(): Promise<void> {
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      const pair = await this.#readPair();
      if (!pair) throw sessionLost(this.#session);
      this.#index = pair.modifyIndex;
      this.#writes = pair.flags;
      if (await this.#tryWrite()) return;
    }
    throw unexpected(
      this.#connection.endpoint,
      `the session ${this.#session} was meanwhile resumed by another client`,
    );
  }

  /** Reads whether the session exists and this process uses it. A quorum of servers confirms the result. */
  async isOwn(signal?: AbortSignal): Promise<boolean> {
    const pair = await this.#readPair({ signal, isUrgent: true });
    return pair?.text === this.owner;
  }

  /**
   * Invalidates all earlier requests of the session that the server has not executed yet.
   * @throws {QueueLockError} `SESSION_LOST`
   */
  invalidateEarlier(): Promise<void> {
    return this.#lane.run(async () => {
      for (let left = ATTEMPTS; left > 0; left -= 1) {
        if (await this.#tryWrite()) return;
        await this.#adopt();
      }
      throw unexpected(this.#connection.endpoint, `the key ${this.key} changes too often`);
    });
  }

  /**
   * Runs a transaction if the session exists and this process uses it. If the transaction is rolled back, `failedAt` in the result counts only the
   * given operations, not the check of the session.
   * @throws {QueueLockError} `SESSION_LOST`
   */
  async txn(operations: readonly KvOperation[]): Promise<TxnResult> {
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      const index = this.#index;
      const result = await this.#connection.txn([
        { verb: 'check-index', key: this.key, index },
        ...operations,
      ]);
      if (result.isDone) return result;
      if (isNoSession(result.why)) throw sessionLost(this.#session);
      if (result.failedAt > 0) return { ...result, failedAt: result.failedAt - 1 };
      if (this.#index === index) await this.#lane.run(() => this.#adopt());
    }
    throw unexpected(this.#connection.endpoint, `the key ${this.key} changes too often`);
  }

  /**
   * Deletes the session's key, unless another process uses the session. Returns whether the key was deleted. Only then may the caller end the
   * session.
   */
  async delete(): Promise<boolean> {
    const result = await this.#connection.txn([{ verb: 'delete-cas', key: this.key, index: this.#index }]);
    if (result.isDone) return true;
    await this.#adopt();
    return (await this.#connection.txn([{ verb: 'delete-cas', key: this.key, index: this.#index }])).isDone;
  }

  /**
   * Writes the session's key with new flags, so that Consul gives it a new index. Without a new value or new flags, the index would stay the same.
   * Returns whether the write was done.
   */
  async #tryWrite(): Promise<boolean> {
    const flags = (this.#writes + 1) % 2 ** 31;
    const cas = { verb: 'cas', key: this.key, text: this.owner, index: this.#index, flags } as const;
    try {
      const result = await this.#connection.txn([cas]);
      if (!result.isDone) return false;
      this.#accept(result);
      this.#writes = flags;
      return true;
    } catch (error) {
      // The server may have written the session's key although the request failed. Then the key has a new index, which the next write must contain.
      if (isUnknown(error)) await this.#adopt();
      throw error;
    }
  }

  /** Reads the current index of the session's key. */
  async #adopt(): Promise<void> {
    const pair = await this.#readPair();
    if (pair?.text !== this.owner) throw sessionLost(this.#session);
    this.#index = pair.modifyIndex;
    this.#writes = pair.flags;
  }

  async #readPair(
    options: Pick<ReadOptions, 'signal' | 'isUrgent'> = {},
  ): Promise<{ readonly text: string; readonly modifyIndex: bigint; readonly flags: number } | undefined> {
    const { pairs } = await this.#connection.read(this.key, { ...options, isConsistent: true });
    return pairs.find(({ session }) => session === this.#session);
  }

  #accept(result: TxnResult): void {
    const pair = result.isDone ? result.pairs[0] : undefined;
    if (pair) this.#index = pair.modifyIndex;
    else if (!result.isDone && isNoSession(result.why)) throw sessionLost(this.#session);
    else
      throw new QueueLockError(
        'UNAVAILABLE',
        `${this.#connection.endpoint}: the key ${this.key} cannot be locked`,
      );
  }
}
