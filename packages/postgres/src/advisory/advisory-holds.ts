// Chapter advisory: how are programs that take advisory locks kept out?
// A hold takes the advisory lock of its name too, on a connection of its own (advisory-wires).

import {
  QueueLockError,
  detailOf,
  invalidArgument,
  type EntrySpec,
  type Placement,
} from '@queuelock/core/backend';
import { AdvisoryHold } from './advisory-hold.ts';
import { advisoryLockFor, type AdvisoryKeyOf, type AdvisoryLock } from './advisory-key.ts';
import type { AdvisoryWires } from './advisory-wires.ts';
import { Observable } from '../base/rx.ts';

type Named = Pick<EntrySpec, 'queue' | 'id'>;

/** What of it all sessions of a connection share. */
export interface Advisory {
  readonly wires: AdvisoryWires;
  readonly keyOf: AdvisoryKeyOf | undefined;
  readonly endpoint: string;
}

/**
 * The advisory locks of a session's entries. `pg_advisory_lock` knows nothing of our line. While clients that lock by it are still about, an
 * entry of ours owns its queue only when its turn has come and it has that lock too, which it asks for then and not before.
 */
export class AdvisoryHolds {
  readonly #advisory: Advisory;
  readonly #ttlMs: number;
  readonly #holds = new Map<string, AdvisoryHold>();

  constructor(advisory: Advisory, ttlMs: number) {
    this.#advisory = advisory;
    this.#ttlMs = ttlMs;
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  lockFor(spec: EntrySpec): AdvisoryLock | undefined {
    return advisoryLockFor(this.#advisory.keyOf, spec);
  }

  /** Whether these can enter together. @throws {QueueLockError} `INVALID_ARGUMENT`, or what connecting throws */
  async check(specs: readonly EntrySpec[]): Promise<void> {
    const locked = specs.find((spec) => this.lockFor(spec));
    if (!locked) return;
    if (specs.length > 1) {
      // Whoever waits for the lock of one would keep that of another from clients that take them in an order of their own.
      const rule = 'name no queue that has an advisory lock (option advisoryKey)';
      throw invalidArgument('specs', locked.queue, rule);
    }
    await this.#advisory.wires.requireOwn();
  }

  /** A try: takes the lock first, and frees it if there is no placement. @throws {QueueLockError} */
  async around(spec: EntrySpec, enter: () => Promise<Placement | undefined>): Promise<Placement | undefined> {
    const lock = this.lockFor(spec);
    if (!lock) return enter();
    const hold = this.#holdOf(spec, lock);
    let placement: Placement | undefined;
    try {
      if (hold.isHeld || (await hold.try())) placement = await enter();
    } finally {
      if (!placement) await this.free(spec);
    }
    return placement;
  }

  /** The placement of an entry that owns its queue only together with the lock. */
  beside(spec: EntrySpec, placement: Placement): Placement {
    const lock = this.lockFor(spec);
    if (!lock) return placement;
    const hold = this.#holdOf(spec, lock);
    const { turn } = placement;
    return {
      ...placement,
      turn: hold.isHeld ? turn : { ...turn, admitted: false },
      turns$: this.#turns(hold, placement),
    };
  }

  /** If it has one. */
  async share(entry: Named): Promise<void> {
    await this.#holds.get(fieldOf(entry))?.share();
  }

  /** Resolves when others may have it. Never rejects. */
  async free(entry: Named): Promise<void> {
    const hold = this.#holds.get(fieldOf(entry));
    this.#holds.delete(fieldOf(entry));
    await hold?.free();
  }

  async freeAll(): Promise<void> {
    const holds = [...this.#holds.values()];
    this.#holds.clear();
    await Promise.all(holds.map((hold) => hold.free()));
  }

  /** As often as the session is renewed: the server keeps the locks for as long. Never rejects. */
  async beat(): Promise<void> {
    await Promise.all([...this.#holds.values()].map((hold) => hold.beat()));
  }

  #holdOf(entry: Named, lock: AdvisoryLock): AdvisoryHold {
    const { wires, endpoint } = this.#advisory;
    const known = this.#holds.get(fieldOf(entry));
    const hold = known ?? new AdvisoryHold({ wires, lock, endpoint, ttlMs: this.#ttlMs });
    this.#holds.set(fieldOf(entry), hold);
    return hold;
  }

  #turns(hold: AdvisoryHold, { key, turns$ }: Placement): Placement['turns$'] {
    return new Observable((subscriber) => {
      const lose = (why: string, cause?: unknown): void => {
        subscriber.error(new QueueLockError('ENTRY_LOST', `the entry ${key}: ${why}`, { cause }));
      };
      hold.onLost = () => {
        lose('the connection that its advisory lock lives on was lost');
      };
      return turns$.subscribe({
        next: (turn) => {
          if (!turn.admitted || hold.isHeld) {
            subscriber.next(turn);
            return;
          }
          subscriber.next({ admitted: false });
          hold.take().then(
            () => {
              subscriber.next(turn);
            },
            (error: unknown) => {
              lose(`its turn came, but ${detailOf(error)}`, error);
            },
          );
        },
        error: (error: unknown) => {
          // Who has lost the place has told so, and holds no more.
          void hold.free();
          subscriber.error(error);
        },
      });
    });
  }
}

function fieldOf({ queue, id }: Named): string {
  return `${id}/${queue}`;
}
