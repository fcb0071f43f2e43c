// Folder "turn": notifies waiters of this process and of others, and observers of this process.
// followers.ts (this file) notifies waiters of this process. neighbours.ts, peers.ts, inbox.ts and inquiry.ts connect it with other
// processes. observers.ts notifies observers of changes.

import { QueueLockError, type Turn } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** An entry of this process, with what its listeners need to identify it. */
export interface Followed {
  readonly queue: string;
  readonly session: number;
  readonly ord: number;
  readonly key: string;
}

/** The status of an entry: whether it is admitted, or the error code with which it was lost. */
type EntryStatus = boolean | 'ENTRY_LOST' | 'SESSION_LOST';

/** A listener that is informed when the status of one entry changes. */
export interface Follower extends Followed {
  update(status: EntryStatus): void;
}

/** The listeners for entries of this process. */
export class Followers {
  readonly #byOrd = new Map<number, Set<Follower>>();
  readonly #queues = new Map<string, number>();

  get size(): number {
    return this.#byOrd.size;
  }

  get all(): readonly Follower[] {
    return [...this.#byOrd.values()].flatMap((followers) => [...followers]);
  }

  /** The number of listeners for each queue that has any. */
  get queues(): ReadonlyMap<string, number> {
    return this.#queues;
  }

  of(ord: number): readonly Follower[] {
    return [...(this.#byOrd.get(ord) ?? [])];
  }

  add(follower: Follower): void {
    this.#byOrd.set(follower.ord, (this.#byOrd.get(follower.ord) ?? new Set()).add(follower));
    this.#count(follower, 1);
  }

  delete(follower: Follower): void {
    const followers = this.#byOrd.get(follower.ord);
    followers?.delete(follower);
    if (followers?.size === 0) this.#byOrd.delete(follower.ord);
    this.#count(follower, -1);
  }

  #count({ queue }: Follower, change: 1 | -1): void {
    const count = (this.#queues.get(queue) ?? 0) + change;
    if (count > 0) this.#queues.set(queue, count);
    else this.#queues.delete(queue);
  }
}

/**
 * Returns a stream of the status of an entry, for `Placement.turns$`.
 * @param onAdd called when the listener of a subscriber was added, to read an entry that may have been admitted before
 */
export function turnsOf(
  followers: Followers,
  followed: Followed & { readonly turn: Turn },
  onAdd: (follower: Follower) => void,
): Observable<Turn> {
  return new Observable((subscriber) => {
    let isWaiting = !followed.turn.admitted;
    const follower: Follower = {
      ...followed,
      update(status) {
        if (typeof status === 'string') {
          const message = `the entry ${followed.key} is no longer in the queue`;
          subscriber.error(new QueueLockError(status, message));
        } else if (status && isWaiting) {
          isWaiting = false;
          subscriber.next({ admitted: true, ahead: 0 });
        }
      },
    };
    followers.add(follower);
    subscriber.add(() => {
      followers.delete(follower);
    });
    subscriber.next(followed.turn);
    if (!subscriber.closed) onAdd(follower);
  });
}
