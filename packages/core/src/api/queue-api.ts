import type { Observable } from 'rxjs';
import type { HandoverAnswer } from './hold-api.ts';
import type { HandoverRequestOptions } from './options.ts';

/** One contender as everybody can see it. What only clients of this kind tell is `undefined` for others. */
export interface QueueEntry {
  /**
   * As the store has it. A later entry may have the same one: what tells entries apart is key and order. A guard of your writes is made of
   * `Ownership.key`, not of this: only the reading of that keeps the next hold from beginning before the entry has left the store.
   */
  readonly key: string;
  readonly order: bigint;
  readonly shared: boolean;
  /** The label its client gave; for clients of other kinds, whatever they stored. */
  readonly owner: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** As stored. */
  readonly value: string;
  /**
   * Set for a key that no lock client made, as far as its name tells. Clients behind it wait for it as for an entry: until its lease ends,
   * or, without a lease, until it is deleted.
   */
  readonly foreign?: 'with-lease' | 'without-lease';
  /** Unique for ever. */
  readonly id?: string;
  readonly host?: string;
  readonly pid?: number;
  /** When it joined, in milliseconds since 1970 by the clock of its machine. */
  readonly since?: number;
  /** 1 and 1 for a lock. */
  readonly permits: number;
  readonly limit: number;
  /** The ids of the entries that its call chain holds while it waits here; see `findDeadlocks` of `@queuelock/recipes`. */
  readonly holds: readonly string[];
  /** How long its client has held this name lately, or expects to, in milliseconds. */
  readonly typicalHoldMs?: number;
  /** What it asks of the holder. */
  readonly request?: HandoverRequestOptions;
  /** The ids of the entries whose answers it has read. */
  readonly heard: readonly string[];
  /** What it answered, by the id of the entry that asked; the newest last. */
  readonly answers: readonly { readonly to: string; readonly answer: HandoverAnswer }[];
}

/** What an operator, a thief or a holder that yields removed. */
export interface Eviction {
  /** As it was seen. */
  readonly entry: Pick<QueueEntry, 'key' | 'order' | 'owner' | 'id'>;
  /** `overtaken`: somebody was let pass; clients of this kind join again by themselves. */
  readonly kind: 'evicted' | 'stolen' | 'overtaken';
  /** The label of the client that did it. */
  readonly by: string;
  readonly reason: string;
  /** In milliseconds since 1970, by the clock of that client. */
  readonly at: number;
}

/** A small text that all clients share and that outlives them; made by `LockClient.register`. */
export interface SharedRegister {
  /** The present text (`undefined`: none) at once, then every change. `stale`: as last known, the server cannot be reached. Never errors. */
  readonly state$: Observable<RegisterState>;
  /** Reads it. Repeated until there is an answer. */
  read(): Promise<string | undefined>;
  /**
   * Changes it, and answers the new text. `change` gets the present text and may be called several times: when others changed it in
   * between, and when an answer was lost, in which case the text may be its own; so it must recognise its own work.
   * To answer the same text changes nothing; `undefined` empties the register.
   */
  change(change: (text: string | undefined) => string | undefined): Promise<string | undefined>;
}

/** What a register holds, as far as is known. */
export interface RegisterState {
  readonly status: 'connecting' | 'live' | 'stale';
  readonly text: string | undefined;
  /** While it is not `live`: why the last look failed. */
  readonly error?: unknown;
}

/** The present state of a queue; the first entry holds the lock, unless its client has not noticed yet. */
export interface QueueState {
  /** `connecting` until the first answer; `stale` while the server cannot be reached: `entries` are then the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  readonly name: string;
  /** In the server's order. */
  readonly entries: readonly QueueEntry[];
  /** While it is not `live`: why the last look failed, for instance `FOREIGN_FORMAT`, which does not end by itself. */
  readonly error?: unknown;
}
