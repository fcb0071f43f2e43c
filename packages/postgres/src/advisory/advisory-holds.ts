// Folder "advisory": excludes programs that use advisory locks instead of a queue.
// advisory-holds.ts (this file) takes the advisory lock of a queue for each hold. advisory-wires.ts opens a connection for each such lock.

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

/** The connections and options for advisory locks that all sessions of a backend share. */
export interface Advisory {
  readonly wires: AdvisoryWires;
  readonly keyOf: AdvisoryKeyOf | undefined;
  readonly endpoint: string;
}

/**
 * The advisory locks of a session's entries. Programs that use `pg_advisory_lock` do not know queuelock's
 * queue. So an entry counts as a holder only when it is admitted in the queue and also has the advisory lock.
 * An entry requests the advisory lock only once it is admitted.
 */
export class AdvisoryHolds {
  readonly #advisory: Advisory;
  readonly #ttlMs: number;
  readonly #holds = new Map<string, AdvisoryHold>();

  constructor(advisory: Advisory, ttlMs: number) {
    this.#advisory = advisory;
    this.#ttlMs = ttlMs;
  }

  /**
   * Returns the advisory lock that an entry needs, or `undefined` if other programs use no advisory lock for
   * its queue.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the key or the limit of the entry does not allow an
   * advisory lock
   */
  lockFor(spec: EntrySpec): AdvisoryLock | undefined {
    return advisoryLockFor(this.#advisory.keyOf, spec);
  }

  /**
   * Checks that the entries of one enqueue call may be added, as far as advisory locks are concerned. For a
   * single entry, returns the advisory lock that it needs, if any.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when one of several entries needs an advisory lock, or when
   * the server is behind a pooler in transaction mode; the error of the connection attempt if the server
   * cannot be reached
   */
  async check(specs: readonly EntrySpec[]): Promise<AdvisoryLock | undefined> {
    const locks = specs.map((spec) => this.lockFor(spec));
    const locked = specs.find((_, nth) => locks[nth]);
    if (!locked) return undefined;
    if (specs.length > 1) {
      // An entry in several queues would wait for the advisory lock of one queue while it holds that of
      // another. It would deadlock with a program that takes the same two locks in the opposite order.
      const rule = 'name no queue that has an advisory lock (option advisoryKey)';
      throw invalidArgument('specs', locked.queue, rule);
    }
    await this.#advisory.wires.requireOwn();
    return locks[0];
  }

  /**
   * Takes the advisory lock for a claim that must not wait, then calls `enter`, which adds the entry.
   * Releases the advisory lock if `enter` has not added the entry.
   * @throws {QueueLockError} when the server cannot be reached
   */
  async around(
    spec: EntrySpec,
    enter: (lock: AdvisoryLock | undefined) => Promise<Placement | undefined>,
  ): Promise<Placement | undefined> {
    const lock = this.lockFor(spec);
    if (!lock) return enter(lock);
    const hold = this.#holdOf(spec, lock);
    let placement: Placement | undefined;
    try {
      if (hold.isHeld || (await hold.try())) placement = await enter(lock);
    } finally {
      if (!placement) await this.free(spec);
    }
    return placement;
  }

  /**
   * Returns the result of an enqueue, changed so that the entry counts as admitted only once it also has its
   * advisory lock.
   */
  beside(spec: EntrySpec, lock: AdvisoryLock | undefined, placement: Placement): Placement {
    if (!lock) return placement;
    const hold = this.#holdOf(spec, lock);
    const { turn } = placement;
    return {
      ...placement,
      turn: hold.isHeld ? turn : { ...turn, admitted: false },
      turns$: this.#turns(hold, placement),
    };
  }

  /** Changes the advisory lock of an entry, if it has one, to a shared one. */
  async share(entry: Named): Promise<void> {
    await this.#holds.get(fieldOf(entry))?.share();
  }

  /** Releases the advisory lock of an entry, if it has one. Never rejects. */
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

  /**
   * Verifies the advisory locks of all entries. Each heartbeat calls it, because the server ends connections
   * that send nothing for a TTL. Never rejects.
   */
  async verifyAll(): Promise<void> {
    await Promise.all([...this.#holds.values()].map((hold) => hold.verify()));
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
        lose('the connection of its advisory lock was lost');
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
              lose(`admitted, but ${detailOf(error)}`, error);
            },
          );
        },
        error: (error: unknown) => {
          // Frees the advisory lock of the entry, because the entry was lost.
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
