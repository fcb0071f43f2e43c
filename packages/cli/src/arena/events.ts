import type { HistoryEvent } from '../demo/history.ts';

/** An external action on a contender other than a kill. */
export interface Disturbance {
  readonly t: string;
  readonly id: string;
  readonly ev: 'frozen' | 'thawed' | 'cut' | 'mended';
  /** End of the proven time of its hold, as it last reported it, in the format of `t`. */
  readonly until?: string;
}

/** A contender received a notification about its entry, so it woke up. The time is by the contender's own clock. */
interface Notified {
  readonly t: string;
  readonly id: string;
  readonly ev: 'notified';
  /** Whether the notification admitted the entry. */
  readonly admitted: boolean;
}

/** The first entry belongs to a client that is not a contender, for instance a visitor of the page. */
interface Stranger {
  readonly t: string;
  /** Owner label of that client. */
  readonly id: string;
  readonly ev: 'stranger';
}

/** Events among contenders that visitors disturb; all `t` are stamps of one machine. */
export type ArenaEvent = HistoryEvent | Disturbance | Notified | Stranger;
