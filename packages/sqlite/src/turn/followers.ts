// Chapter turn: whose turn is it, and why am I waiting for that one?
// Those of this process who wait to hear (here); other processes tell (neighbours, peers, inbox); observers: who looks on.

import { QueueLockError, type Turn } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** An entry of this process whose turns somebody follows. */
export interface Followed {
  readonly queue: string;
  readonly session: number;
  readonly ord: number;
  readonly key: string;
}

/** What is known of an entry: whether it is admitted, or with what code it is gone. */
type Sight = boolean | 'ENTRY_LOST' | 'SESSION_LOST';

/** One who follows. */
export interface Follower extends Followed {
  take(sight: Sight): void;
}

/** Those who follow the turns of entries in this process. */
export class Followers {
  readonly #byOrd = new Map<number, Set<Follower>>();
  readonly #queues = new Map<string, number>();

  get size(): number {
    return this.#byOrd.size;
  }

  get all(): readonly Follower[] {
    return [...this.#byOrd.values()].flatMap((followers) => [...followers]);
  }

  /** In which queues their entries are, and how many in each. */
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

/** The turns of an entry, as in `Placement.turns$`; `onAdd` looks at it once, since its turn may have come before it was followed. */
export function turnsOf(
  followers: Followers,
  followed: Followed & { readonly turn: Turn },
  onAdd: (follower: Follower) => void,
): Observable<Turn> {
  return new Observable((subscriber) => {
    let waits = !followed.turn.admitted;
    const follower: Follower = {
      ...followed,
      take(sight) {
        if (typeof sight === 'string') {
          const message = `the entry ${followed.key} is not in the queue any more`;
          subscriber.error(new QueueLockError(sight, message));
        } else if (sight && waits) {
          waits = false;
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
