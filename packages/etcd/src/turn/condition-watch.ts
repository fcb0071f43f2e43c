import { askUntilDefinite, backoffDelay, isQueueLockError } from '@queuelock/core/backend';
import type { Subscription, Unsubscribable } from '../base/rx.ts';
import type { IEvent } from '../protocol/messages.ts';
import type { CompactionListener, Compactions } from '../server/compactions.ts';
import type { QueueWatches, WatchNotification, WatchTarget, Watcher, Watches } from '../server/watches.ts';

/** A condition for which a waiter waits, such as the removal of a key. The waiter watches the key and reads it. */
export interface Condition {
  readonly target: WatchTarget;
  /** Whether to read the key several times after the watch has started, because the watch may deliver its first events late. */
  readonly isSoon: boolean;
  /** Returns whether the event of the watch shows that the condition is met. */
  isMetBy(event: IEvent): boolean;
  read(isNeeded: () => boolean): Promise<ReadResult>;
  /** Receives every event of the watched key, in order. */
  onEvent?(event: IEvent): void;
  /** Called once, when the condition is met at the revision `at` or was met before that revision. Not called after the watch has ended. */
  met(at: bigint): void;
}

/** What a read of the watched key has found. */
export interface ReadResult {
  readonly hasHappened: boolean;
  /** The revision of the store at which the watched key was read. */
  readonly at: bigint;
}

/** The parts of the backend by which a waiter watches a key: all watches, and the detection of compactions. */
export interface WatchTools {
  readonly watches: Watches;
  readonly compactions: Compactions;
}

// Delays in milliseconds between the reads of a key after the start of a watch that may deliver its first events late. They add up to 100 ms, after
// which the server delivers all events of the watch in time.
const READ_AGAIN_AFTER_MS = [20, 30, 50] as const;
// Backoff of the reads of a key while the user has no permission to read it. A refused read is repeated, because the key may be deleted already, and
// then the watch gets no event.
const AFTER_REFUSAL = { initialDelayMs: 200, maxDelayMs: 10_000 } as const;

/**
 * Watches a key until the condition is met. Reads the key when the watch becomes live, after each reconnect, and when events may have been lost. Each
 * waiter has two instances of this class, so to save memory it has no closures and no subscriptions.
 */
export class ConditionWatch implements Watcher, CompactionListener, Unsubscribable {
  group: QueueWatches | undefined;
  readonly #condition: Condition;
  readonly #tools: WatchTools;
  #reading: Subscription | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #refusals = 0;
  #isOver = false;

  constructor(condition: Condition, tools: WatchTools) {
    this.#condition = condition;
    this.#tools = tools;
    tools.watches.add(this);
    tools.compactions.add(this);
  }

  get target(): WatchTarget {
    return this.#condition.target;
  }

  /** Ends the watch. Further calls have no effect. */
  unsubscribe(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reading?.unsubscribe();
    clearTimeout(this.#again);
    this.#tools.watches.remove(this);
    this.#tools.compactions.delete(this);
  }

  notify(notification: WatchNotification): void {
    if (this.#isOver) return;
    const condition = this.#condition;
    const events = notification.status === 'events' ? notification.events : [];
    for (const each of events) condition.onEvent?.(each);
    const event = events.find((each) => condition.isMetBy(each));
    if (event) this.#met(BigInt(event.kv.mod_revision));
    else if (notification.status === 'live') this.#read(notification.revision);
  }

  compacted(): void {
    if (!this.#isOver) this.#read();
  }

  #met(at: bigint): void {
    if (this.#isOver) return;
    this.unsubscribe();
    this.#condition.met(at);
  }

  /**
   * Reads the key, to find out whether the condition is met.
   * @param since the store's revision before the watch began, if the watch may deliver events late
   * @param reads how many reads were made since the watch began
   */
  #read(since?: string, reads = 0): void {
    this.#reading?.unsubscribe();
    clearTimeout(this.#again);
    const condition = this.#condition;
    const next = ({ hasHappened, at }: ReadResult): void => {
      this.#refusals = 0;
      const pauseMs = READ_AGAIN_AFTER_MS[reads];
      const mayBeBehind = since !== undefined && at > BigInt(since);
      if (hasHappened) this.#met(at);
      else if (condition.isSoon && mayBeBehind && pauseMs !== undefined)
        this.#again = setTimeout(() => this.#read(since, reads + 1), pauseMs);
    };
    const error = (failure: unknown): void => {
      if (isQueueLockError(failure, 'ACCESS_DENIED'))
        this.#again = setTimeout(
          () => this.#read(since, reads),
          backoffDelay(this.#refusals++, AFTER_REFUSAL),
        );
    };
    const complete = (): void => {
      this.#reading = undefined;
    };
    const reading = askUntilDefinite(() => condition.read(() => !this.#isOver)).subscribe({
      next,
      error,
      complete,
    });
    if (!reading.closed) this.#reading = reading;
  }
}
