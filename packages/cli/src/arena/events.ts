import type { HistoryEvent } from '../demo/history.ts';

/** An action of a visitor on a contender, other than a kill. */
export interface Disturbance {
  readonly t: string;
  readonly id: string;
  readonly ev: 'frozen' | 'thawed' | 'cut' | 'mended';
  /**
   * End of the proven time of the contender's hold, as the contender last reported it, in the format of `t`.
   */
  readonly until?: string;
}

/**
 * The store notified a contender about its entry, so the contender woke up. The time is by the contender's
 * own clock.
 */
interface Notified {
  readonly t: string;
  readonly id: string;
  readonly ev: 'notified';
  /** Whether the notification admitted the entry. */
  readonly admitted: boolean;
}

/** The entry at the front of the queue belongs to a client that is not a contender, for instance a visitor of the page. */
interface Stranger {
  readonly t: string;
  /** Owner label of that client. */
  readonly id: string;
  readonly ev: 'stranger';
}

/** Events among contenders that visitors disturb; all `t` are stamps of one machine. */
export type ArenaEvent = HistoryEvent | Disturbance | Notified | Stranger;
