import type { HistoryEvent } from '../demo/history.ts';

/** Something that is done to a contender from outside, besides killing it. */
export interface Disturbance {
  readonly t: string;
  readonly id: string;
  readonly ev: 'frozen' | 'thawed' | 'cut' | 'mended';
  /** Until when its hold is proven, if it holds, as far as it has said; like `t`. */
  readonly until?: string;
}

/** The store has told a contender something about its place: it was woken. By the contender's own clock. */
interface Told {
  readonly t: string;
  readonly id: string;
  readonly ev: 'told';
  /** Whether it was that its turn has come. */
  readonly admitted: boolean;
}

/** Somebody is in front who is no contender, for instance a visitor of the page. */
interface Stranger {
  readonly t: string;
  /** Its label. */
  readonly id: string;
  readonly ev: 'stranger';
}

/** What happens among contenders that people disturb; `t` are stamps of one machine. */
export type ArenaEvent = HistoryEvent | Disturbance | Told | Stranger;
