import type { Observable } from 'rxjs';
import type { BackendInfo } from './backend-info.ts';
import type { Finding, ListedQueue, StoredEntry, StoredHistory } from './store-facts.ts';

export type { StoredEntry } from './store-facts.ts';
export type { BackendInfo };

/** One wish to enter a queue. */
export interface EntrySpec {
  /** The queue's name as the user wrote it; `Backend.checkName` has accepted it. */
  readonly queue: string;
  /** Chosen by the core, matches `[0-9a-f]{32}`, unguessable, unique for ever: it makes `enqueue` safe to repeat. */
  readonly id: string;
  /** Two shared entries never conflict (readers, barrier members). */
  readonly shared: boolean;
  /** The entry is admitted while the conflicting entries ahead and itself take at most `limit` permits. At least 1. */
  readonly limit: number;
  /** Permits that it takes, from 1 to `limit`. Default 1. A foreign entry takes 1. */
  readonly permits?: number;
  /** Shown to everybody who looks at the queue; at most 2,048 bytes of UTF-8. */
  readonly value?: string;
}

/** How several queues are entered at once. */
export interface EnqueueAllOptions {
  /**
   * Unless all are admitted at once, the caller takes them out at once. So there need be no order among calls of which nobody waits, and
   * the backend waits for nobody to keep one. Default `false`.
   */
  readonly isTry?: boolean;
}

/** What an entry's place means now. Never goes back from admitted to waiting. */
export interface Turn {
  readonly admitted: boolean;
  /** Conflicting entries ahead as of the backend's last look, where it knows the number for free. */
  readonly ahead?: number;
  /** With `admitted`: the store's revision in the answer that showed it, where clients of other kinds fence with that. */
  readonly grantToken?: bigint;
}

/** An entry that is in the queue. */
export interface Placement {
  /** Given by the server; later entries of the queue always have more, until the queue was empty. */
  readonly order: bigint;
  /** Fencing token: grows with every conflicting grant of the queue, for ever. */
  readonly token: bigint;
  /** The entry's key or path as stored, for people and tools. A later entry may have the same one with another order. */
  readonly key: string;
  /** As of the placement; admitted here means that no further round trip was needed. */
  readonly turn: Turn;
  /**
   * The limit of an entry ahead that is another than the own one, if the placement saw such a one. A reader ahead counts, with its limit
   * of 1: it would be let in together with a semaphore otherwise. A shared entry is told none: it waits for all that are exclusive.
   */
  readonly otherLimit?: number;
  /**
   * The life of the entry. Cold, subscribed once. Emits the turn and every change of it; stays open and silent after
   * `admitted`; errors with `ENTRY_LOST` or `SESSION_LOST` as soon as the backend sees that the entry is
   * gone, by whatever it sees it and before it asks why (`Session.hasEnded` tells later), or with `FOREIGN_FORMAT` (nothing else). Rides out connection trouble by itself and looks again after it. Unsubscribing removes its watches.
   * For an entry that was admitted at once the backend may start to watch it up to 250 ms late, so that short holds
   * cost no watch.
   */
  readonly turns$: Observable<Turn>;
}

/**
 * Notes that outlive the session: a hold leaves one when it begins and takes it along when it ends by `remove`. What the next
 * holder finds is of a hold that ended otherwise, whose client may not know yet.
 */
export interface HoldTraces {
  /**
   * Leaves the trace of the entry with this id. Answers the queue's other traces whose entries are not in it any more, by names
   * that mean something to `erase` only. From now on `remove` of the id takes the trace away, in one step with the entry or
   * just before, and never when the entry was gone already. Safe to repeat; rejects as `Session.enqueue`.
   */
  leave(queue: string, id: string): Promise<readonly string[]>;
  /** Forgets traces. Safe to repeat: what is not there any more is no error. Rejects as `Session.enqueue`. */
  erase(queue: string, traces: readonly string[]): Promise<void>;
}

/** A small text that outlives sessions. */
export interface Register {
  readonly text: string;
  /** Another one after every write, also of the same text. Means something to `write` only. */
  readonly version: string;
}

/** One register for each queue and kind: what has to be remembered while nobody is in line. Empty ones take no room. */
export interface Registers {
  /** `undefined`: it is empty. Sees every write that was answered before the call. */
  read(queue: string, kind: string): Promise<Register | undefined>;
  /**
   * Writes, or empties with `text: undefined`, if the version is still `was` (`undefined`: if it is empty). `false`: it is
   * another one. After any rejection that is not definite the outcome is unknown.
   * At most 4,096 bytes of UTF-8. `kind` matches `[a-z]{1,16}`.
   */
  write(
    queue: string,
    kind: string,
    change: { readonly text: string | undefined; readonly was: string | undefined },
  ): Promise<boolean>;
  /** First emission: the register now; again after every change. Changes may be merged. Errors as `Backend.observe`. */
  observe(queue: string, kind: string): Observable<Register | undefined>;
}

/** The unit of liveness: all its entries vanish with it, however it ends. */
export interface Session {
  readonly id: string;
  /** Granted, in milliseconds; the session lives at least this long counted from the moment `open` was called. */
  readonly ttlMs: number;
  /** Emits when the backend has a reason to doubt that the session is healthy; the core then renews at once. */
  readonly doubts$?: Observable<unknown>;
  /** For clients with a `lockDelayMs`; a backend without it refuses those. */
  readonly traces?: HoldTraces;
  /**
   * Renews. Resolves to the milliseconds that the server will keep the session, counted from the moment of this *call*,
   * and only when that is proven, so on a cluster not from one member's word.
   * Rejects with `SESSION_LOST`, or with anything else when the outcome is unknown. Never called twice at a time.
   */
  renew(signal: AbortSignal): Promise<number>;
  /**
   * Whether the server knows the session no more: asked after an `ENTRY_LOST`, where `turns$` cannot tell an entry that somebody removed
   * from one that went with its session. One attempt, which bounds its own time; rejects when it is unknown. A backend whose
   * `turns$` tell them apart at once has no such method.
   */
  hasEnded?(): Promise<boolean>;
  /**
   * Resolves when exactly one entry with this id is in the queue. Definite rejections: `SESSION_LOST`, `ENTRY_LOST`,
   * `ACCESS_DENIED`, `INVALID_ARGUMENT`, `FOREIGN_FORMAT`. After any other the outcome is unknown: the core calls again with the
   * same spec (and gets the same place) or calls `remove`. One attempt, which bounds its own time.
   * Called again with another `limit` it answers the same place with the turns under that limit. What else the store says of an entry
   * of this session counts, and not what the caller says: with another mode or other permits than are stored, or with an id that an
   * entry of the session in another queue has, it rejects with `INVALID_ARGUMENT` (see `requireSameEntry`) and changes nothing.
   */
  enqueue(spec: EntrySpec): Promise<Placement>;
  /**
   * Enters several queues, no two alike, at one point in the order of the whole store: any two calls of whatever sessions
   * are ordered alike in every queue that both enter. Rejects as `enqueue`, for all of them; repeated and removed likewise,
   * each entry by its own id. Nothing of it is seen by others before all of it is certain to come, or to go with the session.
   */
  enqueueAll?(specs: readonly EntrySpec[], option?: EnqueueAllOptions): Promise<readonly Placement[]>;
  /** As `enqueue`, but `undefined` when the entry would have to wait; nothing is left behind then. */
  tryEnqueue(spec: EntrySpec): Promise<Placement | undefined>;
  /** Replaces the entry's value; `false` if there is no such entry. */
  update(queue: string, id: string, value: string): Promise<boolean>;
  /**
   * Turns an exclusive entry into a shared one at the same place, and replaces its value: shared entries behind it that wait
   * for nothing else are admitted, exclusive ones are not. `false` if there is no such entry. Safe to repeat.
   * Clients of other kinds may go on to see it as exclusive.
   */
  share?(queue: string, id: string, value: string): Promise<boolean>;
  /**
   * Called before the caller reads the entry's key, which it may compare in transactions of its own. From then on no later entry is granted
   * before this one is out of the store. Returns `false` where a later one was granted already. Needed only by a session that grants before
   * the removal of the entry ahead is confirmed.
   */
  exposeKey?(queue: string, id: string): boolean;
  /**
   * Final: resolves when the entry is not in the queue and no `enqueue` of that id sent earlier can put it there.
   * `true` if it was there. Resolves to `false` when the session is known to be gone. Any rejection means
   * "unknown"; the core repeats until the session has surely ended. One attempt, which bounds its own time.
   */
  remove(queue: string, id: string): Promise<boolean>;
  /**
   * What another process needs to go on with this session. May be a secret. The session is then left alone with `abandon`.
   */
  readonly resumption?: string;
  /**
   * Of a resumed session: removes the entries that the process before had and that this one has not asked for by `enqueue`. The core calls
   * it once, a TTL after `resume`: such an entry would block its queue for as long as this process renews the session. Nothing is removed
   * in a session that was opened here. One attempt; safe to repeat.
   */
  removeUnclaimed?(): Promise<void>;
  /** Stops here and leaves the session and its entries to their TTL, or to whoever resumes it. Never rejects. */
  abandon?(): Promise<void>;
  /** Ends the session and removes its entries. Never rejects: what it cannot remove, the TTL will. Bounds its own time. */
  close(): Promise<void>;
}

/** How somebody looks at a queue. */
export interface ObserveOptions {
  /** At least so many milliseconds lie between two reads, whatever changes; a backend that is told changes need not heed it. Default 0. */
  readonly apartMs?: number;
}

/** A coordination store. One connection; many sessions and queues. */
export interface Backend {
  readonly info: BackendInfo;
  /** Throws `INVALID_ARGUMENT` for a queue name that the store cannot hold. */
  checkName(queue: string): void;
  /**
   * Opens a session. One attempt, which bounds its own time and names the endpoint when it fails.
   * `signal` says that nobody waits any more: give up early only if no session is left behind; one that opens all the same
   * is closed by the core.
   * Rejects with `ACCESS_DENIED` or `INVALID_ARGUMENT` (definite), or anything else: try again.
   */
  open(ttlMs: number, signal: AbortSignal): Promise<Session>;
  /**
   * Goes on with a session that another process abandoned, or died with. Should that one still be there, its next renewal rejects with
   * `SESSION_LOST`, and it changes nothing more about the session: neither keeps nor ends it. `enqueue` with the id of an entry that the
   * session has answers its place. Rejects as `open`, and with `SESSION_LOST` when it has ended.
   */
  resume?(resumption: string, signal: AbortSignal): Promise<Session>;
  /**
   * The queue in order, first emission: the queue now (also when it is empty), again after every change.
   * Changes may be merged; the last emission is current. May error on connection trouble: the core subscribes again.
   */
  observe(queue: string, looking?: ObserveOptions): Observable<readonly StoredEntry[]>;
  /**
   * Removes somebody's entry, as an operator does: only if it is still the one with that key and order. `false` if it is not
   * there. Its owner's `turns$` error with `ENTRY_LOST`.
   */
  evict?(queue: string, entry: { readonly key: string; readonly order: bigint }): Promise<boolean>;
  readonly registers?: Registers;
  /** The fencing token of an entry that `observe` showed, where its order is not the token; `undefined` when it is gone. */
  tokenOf?(
    queue: string,
    entry: { readonly key: string; readonly order: bigint },
  ): Promise<bigint | undefined>;
  /**
   * The queues that are not empty and whose names begin with `prefix`, in any order: now, and again when they change. Changes are
   * merged, a second's and more where looking is dear. Keys and counts only. What may not be read is left out. Errors as `observe`.
   */
  queues?(prefix: string): Observable<readonly ListedQueue[]>;
  /** What the store still knows of a queue's past. One attempt, which bounds its own time or gives up with `signal`. */
  history?(queue: string, signal: AbortSignal): Promise<StoredHistory>;
  /** Looks at the servers and at the queues whose names begin with `prefix`, and changes nothing. One attempt, which bounds its own time. */
  diagnose?(prefix: string): Promise<readonly Finding[]>;
  /** Frees every connection, timer and handle. Sessions that are still open are left to their TTL. Never rejects. */
  close(): Promise<void>;
}
