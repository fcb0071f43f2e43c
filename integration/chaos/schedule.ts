import type { Direction } from '@queuelock/harness/clusters/links';
import {
  MEMBER_FAULTS,
  QUEUE_FAULTS,
  STORE_FAULTS,
  WORKER_FAULTS,
  type Capabilities,
  type FaultKind,
  type Item,
} from './faults-menu.ts';
import { chanceOf } from '@queuelock/harness/chance';

/** One fault of a schedule. Times are in milliseconds from the beginning of the load. */
export interface Fault {
  /** Number of the fault in the schedule, in the order of the starts of faults, from 1. */
  readonly number: number;
  readonly kind: FaultKind;
  readonly startMs: number;
  readonly durationMs: number;
  /**
   * Number of the affected worker, from 0. If that worker ends before the fault starts, the fault affects the
   * worker that replaced it.
   */
  readonly worker?: number;
  /** Index of the affected member, from 0; `leader` is the leader at the start of the fault. */
  readonly member?: number | 'leader';
  /** Index of the affected queue, from 0, among the queues in which an operator removes entries. */
  readonly queue?: number;
  /** Direction of the traffic that the fault affects, as seen from the member: `in`, `out` or `both`. */
  readonly direction?: Direction;
}

export interface ScheduleTerms {
  /** Seed of the schedule, from 0 to 2^32 - 1. */
  readonly seed: number;
  readonly minutes: number;
  /** Factor of the times between faults of workers. */
  readonly spacing: number;
  readonly capabilities: Capabilities;
}

/** All faults of a run in order, as the report records them. */
export interface Schedule extends ScheduleTerms {
  readonly faults: readonly Fault[];
}

/**
 * Times in milliseconds without faults, at the beginning and at the end of a run, so that the consequences of
 * faults have time to appear.
 */
export const LEAD_IN_MS = 2_000;
export const LEAD_OUT_MS = 3_000;
/**
 * Time in milliseconds from the end of one fault of the cluster to the start of the next: members that come
 * back have to catch up.
 */
export const CLUSTER_REST_MS = 6_000;
/** Time in milliseconds from the end of one fault of a worker to the start of its next one. */
const WORKER_REST_MS = 500;

const CLUSTER_EVERY_MS = [7_000, 11_000] as const;
const WORKER_EVERY_MS = [150, 650] as const;
const QUEUE_EVERY_MS = [4_000, 10_000] as const;

type Chance = () => number;
type Draft = Omit<Fault, 'number'>;

/** A series of faults that never overlap, such as the faults of one worker. */
interface Lane {
  readonly everyMs: readonly [least: number, most: number];
  /** Returns a fault that starts at `startMs`, or `undefined` if none is possible. */
  readonly draw: (startMs: number) => Draft | undefined;
}

/**
 * Returns the faults of a run. They are always the same for the same seed, duration and capabilities. At most
 * one fault of members or of the store is active at a time, since a cluster of three members survives the
 * failure of only one. Each worker has at most one fault at a time, and half of the workers have none. All
 * faults end 3 s before the run does. Two faults exceed what the store can tolerate: `majority lost` and `no
 * space`.
 */
export function scheduleOf(terms: ScheduleTerms): Schedule {
  const { seed, minutes } = terms;
  const untilMs = minutes * 60_000 - LEAD_OUT_MS;
  const lanes = [workerLane, clusterLane, queueLane].map((lane, index) => {
    const chance = chanceOf(seed + index * 0x9e3779b9);
    return along(lane(terms, chance), chance, untilMs);
  });
  const inOrder = lanes.flat().sort((a, b) => a.startMs - b.startMs);
  return { ...terms, faults: inOrder.map((fault, index) => ({ number: index + 1, ...fault })) };
}

function along({ everyMs, draw }: Lane, chance: Chance, untilMs: number): Draft[] {
  const drafts: Draft[] = [];
  for (let at = LEAD_IN_MS; ; at += between(everyMs, chance())) {
    if (at >= untilMs) return drafts;
    const draft = draw(Math.round(at));
    if (draft && draft.startMs + draft.durationMs <= untilMs) drafts.push(draft);
  }
}

function workerLane({ capabilities, spacing }: ScheduleTerms, chance: Chance): Lane {
  const { workers, members } = capabilities;
  const [least, most] = WORKER_EVERY_MS;
  const busyUntil = Array.from({ length: workers }, () => 0);
  const draw = (startMs: number): Draft | undefined => {
    const free = [...busyUntil.keys()].filter((worker) => busyUntil[worker]! <= startMs);
    const worker = pick(free, chance());
    if (worker === undefined || free.length <= workers / 2) return undefined;
    const item = pickItem(WORKER_FAULTS, capabilities, chance());
    const draft = { ...common(item, { startMs, capabilities, chance }), worker };
    busyUntil[worker] = startMs + draft.durationMs + spacing * WORKER_REST_MS;
    return item.ofOneMember ? { ...draft, member: Math.floor(chance() * members) } : draft;
  };
  return { everyMs: [spacing * least, spacing * most], draw };
}

function clusterLane({ capabilities }: ScheduleTerms, chance: Chance): Lane {
  let restsUntil = 0;
  const menu: readonly Item[] = [...MEMBER_FAULTS, ...STORE_FAULTS];
  const draw = (startMs: number): Draft | undefined => {
    if (startMs < restsUntil) return undefined;
    const item = pickItem(menu, capabilities, chance());
    const draft = common(item, { startMs, capabilities, chance });
    restsUntil = startMs + draft.durationMs + CLUSTER_REST_MS;
    if (STORE_FAULTS.some(({ kind }) => kind === item.kind)) return draft;
    return { ...draft, member: item.ofLeader ? 'leader' : Math.floor(chance() * capabilities.members) };
  };
  return { everyMs: CLUSTER_EVERY_MS, draw };
}

function queueLane({ capabilities }: ScheduleTerms, chance: Chance): Lane {
  const draw = (startMs: number): Draft | undefined => {
    const item = pickItem(QUEUE_FAULTS, capabilities, chance());
    const queue = Math.floor(chance() * capabilities.operatedQueues);
    return { ...common(item, { startMs, capabilities, chance }), queue };
  };
  return { everyMs: QUEUE_EVERY_MS, draw };
}

interface Moment {
  readonly startMs: number;
  readonly capabilities: Capabilities;
  readonly chance: Chance;
}

function common(item: Item, { startMs, capabilities, chance }: Moment): Draft {
  const { kind, lastsTtls, directions } = item;
  const share = chance() ** 1.5;
  const durationMs = lastsTtls
    ? between(lastsTtls, share) * capabilities.ttlMs
    : between(item.lastsMs ?? [0, 0], share);
  const draft = { kind, startMs, durationMs: Math.round(durationMs) };
  const direction = directions && pick(directions, chance());
  return direction ? { ...draft, direction } : draft;
}

function pickItem<K extends FaultKind>(
  menu: readonly Item<K>[],
  capabilities: Capabilities,
  share: number,
): Item<K> {
  const possible = menu.filter(({ isPossible = () => true }) => isPossible(capabilities));
  const total = possible.reduce((sum, { weight }) => sum + weight, 0);
  let left = share * total;
  return possible.find(({ weight }) => (left -= weight) < 0) ?? possible.at(-1)!;
}

function pick<T>(items: readonly T[], share: number): T | undefined {
  return items[Math.floor(share * items.length)];
}

function between([least, most]: readonly [number, number], share: number): number {
  return least + (most - least) * share;
}
