import { askUntilDefinite, backoffDelay, isQueueLockError } from '@queuelock/core/backend';
import type { Subscription } from '../base/rx.ts';
import type { IEvent } from '../protocol/messages.ts';
import type { CompactionListener, Compactions } from '../server/compactions.ts';
import type { WatchNotification, WatchTarget, Watcher, Watches } from '../server/watches.ts';

/** A state of a key for which a waiter waits, such as its removal. */
export interface Condition {
  readonly target: WatchTarget;
  /** Returns whether the event shows that the condition is met. */
  readonly isMetBy: (event: IEvent) => boolean;
  readonly read: (isNeeded: () => boolean) => Promise<ReadResult>;
  /** Whether to read several times after the watch has started, because the watch may deliver its first events late. */
  readonly isSoon: boolean;
  /** Receives every event of the watch, in order. */
  readonly onEvent?: (event: IEvent) => void;
}

/** The result of a read. */
interface ReadResult {
  readonly hasHappened: boolean;
  /** The revision of the store when the key was read. */
  readonly at: bigint;
}

// Delays in milliseconds between the reads after the start of a watch that may be late. After the last one, a
// server has certainly caught up.
const READ_AGAIN_AFTER_MS = [20, 30, 50] as const;
// Backoff of the reads while the user has no permission to read the key. A refused read is repeated, because the key may be deleted
// already, and then the watch gets no event.
const AFTER_REFUSAL = { initialDelayMs: 200, maxDelayMs: 10_000 } as const;

/**
 * Watches a key until the condition is met. Reads the key when the watch has become live, also after a reconnect, and when events may have been
 * lost. Each waiter has two such objects for as long as it waits. So these use no closures and subscriptions of their own, to save memory.
 */
export class ConditionWatch implements Watcher, CompactionListener {
  readonly target: WatchTarget;
  readonly #condition: Condition;
  readonly #watches: Watches;
  readonly #compactions: Compactions;
  readonly #onMet: (at: bigint) => void;
  #reading: Subscription | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #refusals = 0;
  #isOver = false;

  /** @param onMet called once with the revision at which the condition is met, or a later one; not called after `stop` */
  constructor(
    condition: Condition,
    { watches, compactions }: { readonly watches: Watches; readonly compactions: Compactions },
    onMet: (at: bigint) => void,
  ) {
    this.target = condition.target;
    this.#condition = condition;
    this.#watches = watches;
    this.#compactions = compactions;
    this.#onMet = onMet;
    watches.add(this);
    compactions.add(this);
  }

  /** Ends the watch. Further calls have no effect. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reading?.unsubscribe();
    clearTimeout(this.#again);
    this.#watches.remove(this);
    this.#compactions.delete(this);
  }

  notify(notification: WatchNotification): void {
    if (this.#isOver) return;
    const { onEvent, isMetBy } = this.#condition;
    const events = notification.status === 'events' ? notification.events : [];
    if (onEvent) events.forEach(onEvent);
    const event = events.find(isMetBy);
    if (event) this.#met(BigInt(event.kv.mod_revision));
    else if (notification.status === 'live') this.#read(notification.revision);
  }

  compacted(): void {
    if (!this.#isOver) this.#read();
  }

  #met(at: bigint): void {
    if (this.#isOver) return;
    this.stop();
    this.#onMet(at);
  }

  /**
   * Reads whether the condition is met.
   * @param since the revision before the watch began, if the watch may be late
   * @param reads how many reads were made since the watch began
   */
  #read(since?: string, reads = 0): void {
    this.#reading?.unsubscribe();
    clearTimeout(this.#again);
    const { read, isSoon } = this.#condition;
    const next = ({ hasHappened, at }: ReadResult): void => {
      this.#refusals = 0;
      const pauseMs = READ_AGAIN_AFTER_MS[reads];
      const mayBeBehind = since !== undefined && at > BigInt(since);
      if (hasHappened) this.#met(at);
      else if (isSoon && mayBeBehind && pauseMs !== undefined)
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
    const reading = askUntilDefinite(() => read(() => !this.#isOver)).subscribe({ next, error, complete });
    if (!reading.closed) this.#reading = reading;
  }
}
