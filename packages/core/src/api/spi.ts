import type { Observable } from 'rxjs';
import type { QueueLockError } from './errors.ts';
import type { BackendInfo } from './backend-info.ts';
import type { RenewerSupport } from './renewer-api.ts';
import type { Finding, ListedQueue, StoredEntry, StoredHistory } from './store-facts.ts';

export type { StoredEntry } from './store-facts.ts';
export type { BackendInfo };

/** The specification of one entry. */
export interface EntrySpec {
  /** The queue's name as given by the user and accepted by `Backend.checkName`. */
  readonly queue: string;
  /** Id chosen by the core, which makes `enqueue` safe to repeat. Matches `[0-9a-f]{32}`, unguessable, never reused. */
  readonly id: string;
  /** Whether the entry is shared, as a reader's entry is. Two shared entries never conflict, so both may hold at the same time. */
  readonly shared: boolean;
  /**
   * Number of permits that the queue has, at least 1. The entry is admitted while it and the conflicting entries ahead take at most `limit` permits.
   */
  readonly limit: number;
  /** Permits that the entry takes, from 1 to `limit`. Default 1. An entry of another program takes 1. */
  readonly permits?: number;
  /** Value visible to every observer of the queue; at most 2,048 bytes of UTF-8. */
  readonly value?: string;
}

/** Options for entering several queues at once. */
export interface EnqueueAllOptions {
  /**
   * Whether the caller removes all entries unless all of them are admitted immediately. Default `false`. Calls with `true` never wait for each other.
   * So the backend need not give them one order in all queues, or wait for other sessions.
   */
  readonly isTry?: boolean;
}

/** Whether an entry is admitted. An admitted entry never waits again. */
export interface Turn {
  readonly admitted: boolean;
  /** Number of conflicting entries ahead when the backend last read the queue. Set where the backend knows it without a further request. */
  readonly ahead?: number;
  /** The store's revision in the response that reported the admission. Set on stores where other kinds of clients use it as their fencing token. */
  readonly grantToken?: bigint;
}

/** The result of entering a queue. */
export interface Placement {
  /** Number by which the store orders the entries of a queue. A later entry has a larger one, unless the queue was empty in between. */
  readonly order: bigint;
  /** Fencing token: larger than the tokens of all earlier conflicting grants of the queue, for ever. */
  readonly token: bigint;
  /** The entry's key or path in the store, for people and tools. A later entry may have the same key, with another `order`. */
  readonly key: string;
  /** The turn of the entry when it joined. If it admits the entry, the claim needs no further request to the store. */
  readonly turn: Turn;
  /**
   * The limit of an entry ahead, if it differs from this entry's limit. A reader ahead counts with a limit of 1; otherwise it might hold together
   * with entries of a semaphore. It is `undefined` for a shared entry, which waits for all exclusive entries anyway.
   */
  readonly otherLimit?: number;
  /**
   * Emits the turn of the entry whenever it changes. Cold, subscribed once. Stays open and emits nothing more after `admitted`. Errors with
   * `ENTRY_LOST` or `SESSION_LOST` as soon as the backend sees that the entry is not in the queue any more, before it reads the cause (see
   * `Session.hasEnded`). Otherwise it errors only with `FOREIGN_FORMAT`. When the connection fails, it continues and reads the queue again
   * afterwards. Unsubscribing removes its watches. For an entry admitted at once, the backend may start to watch up to 250 ms late, so that short
   * holds cost no watch.
   */
  readonly turns$: Observable<Turn>;
}

/**
 * Traces of holds, which outlive the session. A client writes a trace when its hold begins, and erases it when it removes the entry. If the next
 * holder finds a trace, an earlier hold ended without such a removal, and its client may not know that yet.
 */
export interface HoldTraces {
  /**
   * Writes the trace of the entry with this id. From now on, `remove` of the id erases the trace together with the entry or just before it, and never
   * when the entry had already left the queue. Safe to repeat; rejects like `Session.enqueue`.
   * @returns the queue's other traces whose entries are no longer in it, as identifiers that only `erase` understands
   */
  leave(queue: string, id: string): Promise<readonly string[]>;
  /** Erases traces. Safe to repeat: a missing trace is no error. Rejects like `Session.enqueue`. */
  erase(queue: string, traces: readonly string[]): Promise<void>;
}

/** Content of a register: a small text that outlives sessions. */
export interface Register {
  readonly text: string;
  /** Version, which changes with every write, even of the same text. Only `write` uses it; its format has no meaning. */
  readonly version: string;
}

/** Registers: one small text for each queue and kind. For data that must exist even while the queue is empty. An empty register uses no storage. */
export interface Registers {
  /** Reads a register; `undefined` if it is empty. Sees every write confirmed before the call. */
  read(queue: string, kind: string): Promise<Register | undefined>;
  /**
   * Writes the text, or empties the register with `text: undefined`, if the version is still `was` (`undefined`: still empty). After a rejection that
   * is not definite, the outcome is unknown. At most 4,096 bytes of UTF-8; `kind` matches `[a-z]{1,16}`.
   * @returns `false` if the version has changed, so that nothing was written
   */
  write(
    queue: string,
    kind: string,
    change: { readonly text: string | undefined; readonly was: string | undefined },
  ): Promise<boolean>;
  /** Emits the content of the register: now, and again after every change. Changes may be merged. Errors as the stream of `Backend.observe` does. */
  observe(queue: string, kind: string): Observable<Register | undefined>;
}

/** The unit of liveness: all its entries vanish with it, however it ends. */
export interface Session {
  readonly id: string;
  /** Granted TTL in milliseconds. The session lives at least this long, counted from the call of `open`. */
  readonly ttlMs: number;
  /** Emits when the backend has a reason to doubt the session's health. The core then sends a heartbeat at once. */
  readonly doubts$?: Observable<unknown>;
  /** Access to traces of holds. A backend without this member rejects clients with `lockDelayMs`. */
  readonly traces?: HoldTraces;
  /**
   * Sends a heartbeat. Resolves to the milliseconds that the server will keep the session, counted from the moment of this *call*. Resolves only
   * when that is proven, so on a cluster one member's response is not enough. Never called concurrently.
   * @param provenMs how long earlier heartbeats prove the session, those of the heartbeat thread included, in milliseconds from this call. For stores
   *   where one heartbeat extends the proven time by a limited amount. Default 0
   * @throws {QueueLockError} `SESSION_LOST`; any other error means that the outcome is unknown
   */
  renew(signal: AbortSignal, provenMs?: number): Promise<number>;
  /**
   * Checks whether the session has ended on the server. Called after an `ENTRY_LOST`, because `turns$` cannot distinguish a removed entry from an
   * ended session. One attempt with its own time limit; rejects when unknown. A backend whose `turns$` distinguish the two does not implement it.
   */
  hasEnded?(): Promise<boolean>;
  /**
   * Enters the queue. Resolves when exactly one entry with this id is in it. Definite rejections: `SESSION_LOST`, `ENTRY_LOST`, `ACCESS_DENIED`,
   * `INVALID_ARGUMENT`, `FOREIGN_FORMAT`. After any other rejection the outcome is unknown. The core then repeats the call with the same spec, which
   * finds the same entry, or calls `remove`. One attempt with its own time limit. Repeated with another `limit`, it finds the same entry and returns
   * its turns under that limit. All other properties are those of the stored entry. It rejects with `INVALID_ARGUMENT`, without changes, when mode or
   * permits differ from the stored ones. The same holds for an id that the session uses in another queue (see `requireSameEntry`).
   */
  enqueue(spec: EntrySpec): Promise<Placement>;
  /**
   * Enters several distinct queues with one entry each. If two calls, of any sessions, enter several common queues, the entries of one call are ahead
   * in all of them. Rejects like `enqueue`, for all entries together. Afterwards the core repeats or removes each entry separately, by its id. Other
   * clients see none of the entries until it is certain that all of them will be stored, or that they will be removed with the session.
   */
  enqueueAll?(specs: readonly EntrySpec[], option?: EnqueueAllOptions): Promise<readonly Placement[]>;
  /** Like `enqueue`, but when the entry would have to wait, resolves to `undefined` and adds no entry. */
  tryEnqueue(spec: EntrySpec): Promise<Placement | undefined>;
  /** Replaces the entry's value; `false` if there is no such entry. */
  update(queue: string, id: string, value: string): Promise<boolean>;
  /**
   * Converts an exclusive entry to a shared one at the same position, and replaces its value. Shared entries behind it that wait only for it are
   * admitted; exclusive ones are not. Safe to repeat. Other kinds of clients may still treat the entry as exclusive.
   * @returns `false` if there is no such entry
   */
  share?(queue: string, id: string, value: string): Promise<boolean>;
  /**
   * Prepares the key of the entry for the caller, which may compare the key in its own transactions. The core calls this before it returns the key.
   * From then on no later entry is granted before this entry has left the store. Only sessions that grant an entry before the removal of its
   * predecessor is confirmed need this member.
   * @returns `false` when a later entry was already granted
   */
  exposeKey?(queue: string, id: string): boolean;
  /**
   * Removes the entry. Resolves when it is not in the queue and no earlier `enqueue` of that id can still put it there. `true` if it was there.
   * Resolves to `false` when the session is known to be gone. Any rejection means "unknown"; the core repeats until the session has certainly
   * ended. One attempt with its own time limit.
   */
  remove(queue: string, id: string): Promise<boolean>;
  /**
   * Data with which another process can resume this session. It may be a secret. This process then leaves the session with `abandon`, which does not
   * end it.
   */
  readonly resumption?: string;
  /**
   * Removes the entries of a resumed session for which this process has not called `enqueue`. The core calls it once, one TTL after `resume`: such an
   * entry would block its queue while this process sends heartbeats. Removes nothing from a session opened here. One attempt; safe to repeat.
   */
  removeUnclaimed?(): Promise<void>;
  /**
   * Stops using the session in this process. The session and its entries remain until the TTL expires or another process resumes the session. Never
   * rejects.
   */
  abandon?(): Promise<void>;
  /** Ends the session and removes its entries. Never rejects: the TTL removes entries that this call cannot remove. Limits its own time. */
  close(): Promise<void>;
}

/** Options for observing a queue. */
export interface ObserveOptions {
  /** Minimum time between two reads of the queue, in milliseconds. A backend that receives changes as notifications may ignore it. Default 0. */
  readonly apartMs?: number;
}

/** A coordination store: one connection, many sessions and queues. */
export interface Backend {
  readonly info: BackendInfo;
  /** Emits failures from which the backend recovers by itself, such as credentials that cannot be read again. Never errors. Default: no failures. */
  readonly errors$?: Observable<QueueLockError>;
  /**
   * Checks a queue name.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the store cannot hold the name
   */
  checkName(queue: string): void;
  /**
   * Opens a session. One attempt with its own time limit; an error names the endpoint.
   * @param signal aborts when the session is no longer wanted. Give up early only if no session is left behind; the core closes a session that
   *   opens nevertheless.
   * @throws {QueueLockError} `ACCESS_DENIED` or `INVALID_ARGUMENT`, which are definite; after any other error the core retries
   */
  open(ttlMs: number, signal: AbortSignal): Promise<Session>;
  /**
   * Resumes a session of another process, which has abandoned the session or has ended without closing it. If that process still runs, its next
   * heartbeat rejects with `SESSION_LOST`, and it neither keeps nor ends the session. `enqueue` with the id of an existing entry finds that entry.
   * Rejects as `open`, and with `SESSION_LOST` when the session has ended.
   */
  resume?(resumption: string, signal: AbortSignal): Promise<Session>;
  /**
   * Emits the queue in order: the current state first, even when it is empty, then again after every change. Changes may be merged; the last emission
   * is current. May error when the connection fails; the core then subscribes again.
   */
  observe(queue: string, observeOptions?: ObserveOptions): Observable<readonly StoredEntry[]>;
  /**
   * Removes another client's entry if it still has this `key` and `order`. Resolves with `false` if it is not in the queue. The owner's `turns$`
   * error with `ENTRY_LOST`.
   */
  evict?(queue: string, entry: { readonly key: string; readonly order: bigint }): Promise<boolean>;
  readonly registers?: Registers;
  /** Sends heartbeats from another thread, for clients with `maxBlockedMs`. A backend without this member rejects such clients. */
  readonly renewers?: RenewerSupport;
  /**
   * Returns the fencing token of an entry that `observe` emitted, for backends whose token is not the entry's `order`. Returns `undefined` when the
   * entry has left the queue.
   */
  tokenOf?(
    queue: string,
    entry: { readonly key: string; readonly order: bigint },
  ): Promise<bigint | undefined>;
  /**
   * Emits the non-empty queues whose names begin with `prefix`, in any order, then their changes. Changes are merged, over a second or more where
   * reading is expensive. Reads only keys or counts of the entries, and no values. Queues that may not be read are omitted. Errors like `observe`.
   */
  queues?(prefix: string): Observable<readonly ListedQueue[]>;
  /** Reads the recorded holds of a queue. One attempt, which ends at its own time limit, or earlier when `signal` aborts. */
  history?(queue: string, signal: AbortSignal): Promise<StoredHistory>;
  /** Checks the servers and the queues whose names begin with `prefix`. Read-only. One attempt with its own time limit. */
  diagnose?(prefix: string): Promise<readonly Finding[]>;
  /** Closes every connection, timer and handle. Sessions that are still open are left to their TTL. Never rejects. */
  close(): Promise<void>;
}
