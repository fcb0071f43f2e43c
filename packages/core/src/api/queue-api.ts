import type { Observable } from 'rxjs';
import type { HandoverAnswer } from './handover-api.ts';
import type { HandoverRequestOptions } from './handover-api.ts';

/**
 * One entry of a queue as every client can read it. Properties that only clients of this library write are `undefined` for entries of other programs.
 */
export interface QueueEntry {
  /**
   * The entry's key or path in the store. A later entry may have the same key, so identify an entry by `key` and `order` together. Do not guard
   * writes with this key. Use `Ownership.key` for that: once `Ownership.key` is read, the next hold begins only after the entry has left the store.
   */
  readonly key: string;
  /** The number that the server gave the entry: smaller is earlier in the queue. */
  readonly order: bigint;
  readonly shared: boolean;
  /** Label of the entry's client. For an entry of another library it is the text that the library stored. */
  readonly owner: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The text that the entry stores. */
  readonly value: string;
  /**
   * Set for a key that no lock client has created, according to its name. Entries behind it wait until its lease ends. If it has no lease, they wait
   * until it is deleted.
   */
  readonly foreign?: 'with-lease' | 'without-lease';
  /** Id of the entry, never used again. */
  readonly id?: string;
  readonly host?: string;
  readonly pid?: number;
  /**
   * Random text that identifies the process of the entry's client. Each worker thread has its own. Two containers may have the same host name and process
   * id, but never the same instance.
   */
  readonly instance?: string;
  /** Time at which the entry joined, in milliseconds since 1970, by the clock of its client's machine. */
  readonly since?: number;
  /** Number of permits that the entry takes; 1 for a lock. */
  readonly permits: number;
  /** Number of permits of the entry's semaphore; 1 for a lock. */
  readonly limit: number;
  /** Ids of the entries that the call chain of this entry holds while it waits; see `findDeadlocks` of `@queuelock/recipes`. */
  readonly holds: readonly string[];
  /** Recent or expected duration of the holds of this name by the entry's client, in milliseconds. */
  readonly typicalHoldMs?: number;
  /** The handover request that the entry's client makes to the holder while it waits. */
  readonly request?: HandoverRequestOptions;
  /** Ids of holders' entries. This entry's client has read the responses of these holders to its handover request. */
  readonly heard: readonly string[];
  /**
   * Responses of the entry's client, as the holder, to handover requests. Each has the id of the requesting waiter's entry. The newest is the last.
   */
  readonly answers: readonly { readonly to: string; readonly answer: HandoverAnswer }[];
}

/**
 * Record of the removal of an entry by another client: by an operator, by the option `steal`, or by a holder
 * that passes the lock to a waiter further behind.
 */
export interface Eviction {
  /** The entry as the removing client read it before the removal. */
  readonly entry: Pick<QueueEntry, 'key' | 'order' | 'owner' | 'id'>;
  /**
   * `overtaken`: the entry of a waiter was removed so that a waiter behind it could hold first. Clients of this library then join again by
   * themselves.
   */
  readonly kind: 'evicted' | 'stolen' | 'overtaken';
  /** Label of the client that removed the entry. */
  readonly by: string;
  readonly reason: string;
  /** Time of the removal, in milliseconds since 1970, by the clock of the client that removed the entry. */
  readonly at: number;
}

/** A small text beside a queue that all clients share, and that outlives their sessions. `LockClient.register` returns it. */
export interface SharedRegister {
  /** Emits the state of the register at once, then after each change. Never errors. */
  readonly state$: Observable<RegisterState>;
  /** Resolves with the register's current text, or `undefined` if the register is empty. Retries until the store replies. */
  read(): Promise<string | undefined>;
  /**
   * Changes the text.
   * @param change returns the new text for the current one. The same text changes nothing; `undefined` empties the register. It is called again when
   *   another client has changed the text meanwhile, and after a lost reply. After a lost reply, the current text may already be the result of the
   *   earlier call
   * @returns the new text
   */
  change(change: (text: string | undefined) => string | undefined): Promise<string | undefined>;
}

/** State of a register. */
export interface RegisterState {
  /** `connecting` until the first read; `stale` while the server cannot be reached, so that `text` is the last known one. */
  readonly status: 'connecting' | 'live' | 'stale';
  /** The last known text of the register. `undefined` when the register is empty, or was not read yet. */
  readonly text: string | undefined;
  /** Reason for which the last read failed. Set while the status is not `live`. */
  readonly error?: unknown;
}

/** State of a queue. The first entry holds the lock, unless its client has not noticed the grant yet. */
export interface QueueState {
  /** `connecting` until the first read; `stale` while the server cannot be reached, so that `entries` are the last known ones. */
  readonly status: 'connecting' | 'live' | 'stale';
  readonly name: string;
  /** The entries in the server's order. */
  readonly entries: readonly QueueEntry[];
  /**
   * Reason for which the last read failed. Set while the status is not `live`. Some reasons do not end by themselves, for instance `FOREIGN_FORMAT`.
   */
  readonly error?: unknown;
}
