import type { HistoryEvent } from '../demo/history.ts';

/** What a visitor of the demo page did to a contender; a kill is another type of event. */
export interface Disturbance {
  readonly t: string;
  readonly id: string;
  readonly ev: 'frozen' | 'thawed' | 'cut' | 'mended';
  /**
   * End of the proven time of the contender's hold, as the contender last reported it. A stamp, as `t` is.
   */
  readonly until?: string;
}

/**
 * The store notified a contender about its entry, so the contender was woken. `t` is a stamp that the
 * contender took.
 */
interface Notified {
  readonly t: string;
  readonly id: string;
  readonly ev: 'notified';
  /** Whether the notification admitted the entry. */
  readonly admitted: boolean;
}

/**
 * Another client than the contenders is at the front of the queue, for instance a visitor who joined on the
 * page.
 */
interface Stranger {
  readonly t: string;
  /** Owner label of that client. */
  readonly id: string;
  readonly ev: 'stranger';
}

/**
 * An event of the demo page: of a contender, of a visitor, or of the queue. All `t` are stamps of one
 * machine.
 */
export type ArenaEvent = HistoryEvent | Disturbance | Notified | Stranger;
