import { askUntilDefinite, backoffDelay, isQueueLockError } from '@queuelock/core/backend';
import type { Subscription } from '../base/rx.ts';
import type { IEvent } from '../protocol/messages.ts';
import type { CompactionListener, Compactions } from '../server/compactions.ts';
import type { WatchNotification, WatchTarget, Watcher, Watches } from '../server/watches.ts';

/** A state of the store that a waiter waits for. */
export interface Condition {
  readonly target: WatchTarget;
  /** Returns whether the event shows the expected state. */
  readonly isMetBy: (event: IEvent) => boolean;
  readonly read: (isNeeded: () => boolean) => Promise<ReadResult>;
  /** Whether reads compensate for a delayed watch. */
  readonly isSoon: boolean;
  /** Receives every event, in order. */
  readonly onEvent?: (event: IEvent) => void;
}

/** The result of a read. */
interface ReadResult {
  readonly hasHappened: boolean;
  /** The revision of the store at the read. */
  readonly at: bigint;
}

// Delays of the reads that follow the start of a watch that may be delayed, until a server has certainly caught up.
const READ_AGAIN_AFTER_MS = [20, 30, 50] as const;
// Delay before the next read after a missing permission. The key may be gone already, so that no event follows.
const AFTER_REFUSAL = { initialDelayMs: 200, maxDelayMs: 10_000 } as const;

/**
 * Watches from now on until the condition is met. Reads once whenever the watch is live (again), and when events may have been lost. Each waiter has
 * two such watches for as long as it waits, so each is one object, without closures and subscriptions of its own.
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

  /** @param onMet receives the revision of the store at which the condition is met, or a later one; called once, unless `stop` was called before */
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

  /** Stops the watch. Further calls do nothing. */
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

  /** @param since the revision before the watch began, if it may be delayed; `reads`: the number of reads since then */
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
