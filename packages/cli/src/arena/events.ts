import type { HistoryEvent } from '../demo/history.ts';

/**
 * Event: a visitor of the demo page froze, thawed, cut off or reconnected a contender. A kill is another type
 * of event.
 */
export interface Disturbance {
  readonly t: string;
  readonly id: string;
  readonly ev: 'frozen' | 'thawed' | 'cut' | 'mended';
  /** End of the proven time of the contender's hold as a stamp, as the contender last reported it. */
  readonly until?: string;
}

/**
 * Event: the store notified a contender about its entry. `t` is the stamp at which the contender received the
 * notification.
 */
interface Notified {
  readonly t: string;
  readonly id: string;
  readonly ev: 'notified';
  /** Whether the notification admitted the entry. */
  readonly admitted: boolean;
}

/**
 * Event: the first entry of the queue belongs to a client that is no contender, for instance to a visitor who
 * joined on the page.
 */
interface Stranger {
  readonly t: string;
  /** Owner label of the client that is no contender. */
  readonly id: string;
  readonly ev: 'stranger';
}

/**
 * An event of the demo page: of a contender, of a visitor, or of the queue. All `t` are stamps of one
 * machine.
 */
export type ArenaEvent = HistoryEvent | Disturbance | Notified | Stranger;
