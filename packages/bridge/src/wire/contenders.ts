import * as v from 'valibot';
import { snapshotEntries, type Snapshot } from './snapshot.ts';

/** A demo program that contends for a lock, which visitors may disturb. */
export interface ContenderSnapshot {
  /** Owner label of the program's entry in the queue. */
  readonly id: string;
  readonly pid: number;
  /**
   * Status as the program reports it: `starts`, `joins`, `waits`, `holds`, and `rests` between a release and
   * the next join. `expired`: the program's entry was removed while the program was frozen or cut off, so it
   * does not know that. `gone`: the process of the program has ended.
   */
  readonly status: 'starts' | 'joins' | 'waits' | 'holds' | 'rests' | 'expired' | 'gone';
  /** Whether the program's process is suspended. */
  readonly isFrozen: boolean;
  /** Whether the program's connection to the store is cut in both directions. */
  readonly isCut: boolean;
  /** Position as in a queue's snapshot. Left out while the program has no entry. */
  readonly position?: number;
  /** Fencing token of the program's hold, or the token that its hold will have; decimal. */
  readonly token?: string;
  /**
   * End of the proven time of the program's hold, as the program last reported it, in milliseconds since
   * 1970.
   */
  readonly provenUntil?: number;
  /** How the program's process ended. Present if the program has the status `gone`. */
  readonly end?: string;
}

/** A line of the demo's event log: something that happened to a demo program or to its lock. */
export interface HappeningSnapshot {
  /** Number of the event in the log; later events have larger numbers. */
  readonly id: number;
  readonly at: number;
  /** Kind of the event. `violation` means that the lock broke one of its guarantees, such as exclusion. */
  readonly kind: 'grant' | 'disturbance' | 'loss' | 'violation';
  /** Description of the event. A later event with the same id may make it more precise. */
  readonly text: string;
}

/** The demo programs, and the events among them. */
export interface ContendersSnapshot extends Snapshot {
  /** Name of the queue for which the demo programs contend. */
  readonly name: string;
  /** Largest number of demo programs that may run at the same time. */
  readonly maxContenders: number;
  /** Time in milliseconds for which the store keeps the entry of a demo program that sends no heartbeats. */
  readonly ttlMs: number;
  /** Text for the page: how the action `cut` separates a demo program from the store, or why it cannot. */
  readonly cut: string;
  /** Whether the action `cut` can separate a demo program from the store. */
  readonly canCut: boolean;
  /** The demo programs in the order in which they started. */
  readonly contenders: readonly ContenderSnapshot[];
  /** The latest events among the demo programs, the newest last. */
  readonly happenings: readonly HappeningSnapshot[];
}

/** Body of an action on the demo programs. `release` ends the present hold with a normal release. */
export type ContendersAct =
  | { readonly act: 'add' }
  | { readonly act: 'release' | 'freeze' | 'thaw' | 'cut' | 'mend' | 'kill'; readonly id: string };

const text = v.string();
const number = v.number();

/** Schema of `ContendersSnapshot`. */
export const contendersSchema: v.GenericSchema<ContendersSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  maxContenders: number,
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

/** Schema of `ContendersAct`. */
export const contendersActSchema: v.GenericSchema<ContendersAct> = v.variant('act', [
  v.strictObject({ act: v.literal('add') }),
  v.strictObject({
    act: v.picklist(['release', 'freeze', 'thaw', 'cut', 'mend', 'kill']),
    id: v.pipe(text, v.minLength(1), v.maxLength(64)),
  }),
]);
