import * as v from 'valibot';
import { snapshotEntries, type Snapshot } from './snapshot.ts';

/** A program that stands in a queue for visitors to disturb. */
export interface ContenderSnapshot {
  /** Its owner's label in the queue. */
  readonly id: string;
  readonly pid: number;
  /**
   * As it says itself: `starts`, `joins`, `waits`, `holds`, and `rests` between two rounds. `expired`: it cannot know yet that its
   * entry is not in the queue any more. `gone`: its process has ended.
   */
  readonly status: 'starts' | 'joins' | 'waits' | 'holds' | 'rests' | 'expired' | 'gone';
  /** It stands still. */
  readonly isFrozen: boolean;
  /** Nothing that it sends reaches the store, and nothing reaches it. */
  readonly isCut: boolean;
  /** As in a queue's snapshot. Left out when its entry is not there. */
  readonly position?: number;
  /** Decimal: the fencing token of its hold, or that it will have. */
  readonly token?: string;
  /** While it holds: until when that is proven, as it said last. */
  readonly provenUntil?: number;
  /** With `gone`: how it ended. */
  readonly end?: string;
}

/** Something that happened, in words. */
export interface HappeningSnapshot {
  /** Counts up. */
  readonly id: number;
  readonly at: number;
  /** `violation`: what must not happen. */
  readonly kind: 'grant' | 'disturbance' | 'loss' | 'violation';
  /** May still be made more exact, by the same id. */
  readonly text: string;
}

/** Contenders, and what has happened among them. */
export interface ContendersSnapshot extends Snapshot {
  /** The queue. */
  readonly name: string;
  /** As many may live at a time. */
  readonly most: number;
  /** For how long the store keeps the entries of a silent one, in milliseconds. */
  readonly ttlMs: number;
  /** What cutting one off does here. */
  readonly cut: string;
  /** Whether one can be cut off. */
  readonly canCut: boolean;
  /** In the order in which they came. */
  readonly contenders: readonly ContenderSnapshot[];
  /** The latest, the newest last. */
  readonly happenings: readonly HappeningSnapshot[];
}

/** Body of the request to do something to contenders. `release`: to end its hold now, in order. */
export type ContendersAct =
  | { readonly act: 'add' }
  | { readonly act: 'release' | 'freeze' | 'thaw' | 'cut' | 'mend' | 'kill'; readonly id: string };

const text = v.string();
const number = v.number();

/** Checks contenders. */
export const contendersSchema: v.GenericSchema<ContendersSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  most: number,
  ttlMs: number,
  cut: text,
  canCut: v.boolean(),
  contenders: v.array(
    v.object({
      id: text,
      pid: number,
      status: v.picklist(['starts', 'joins', 'waits', 'holds', 'rests', 'expired', 'gone']),
      isFrozen: v.boolean(),
      isCut: v.boolean(),
      position: v.exactOptional(number),
      token: v.exactOptional(text),
      provenUntil: v.exactOptional(number),
      end: v.exactOptional(text),
    }),
  ),
  happenings: v.array(
    v.object({
      id: number,
      at: number,
      kind: v.picklist(['grant', 'disturbance', 'loss', 'violation']),
      text,
    }),
  ),
});

/** Checks the request. */
export const contendersActSchema: v.GenericSchema<ContendersAct> = v.variant('act', [
  v.strictObject({ act: v.literal('add') }),
  v.strictObject({
    act: v.picklist(['release', 'freeze', 'thaw', 'cut', 'mend', 'kill']),
    id: v.pipe(text, v.minLength(1), v.maxLength(64)),
  }),
]);
