import type { Direction } from '@queuelock/harness/clusters/links';
import type { StoreName } from './profiles.ts';

/** Kinds of faults of one worker's process or of its links. */
export type WorkerKind =
  | 'worker killed'
  | 'worker frozen'
  | 'worker stalled'
  | 'connections reset'
  | 'worker cut from all'
  | 'worker cut from one'
  | 'requests lost'
  | 'replies lost';

/** Kinds of faults of one member. */
export type MemberKind =
  | 'member killed'
  | 'member frozen'
  | 'leader killed'
  | 'leader frozen'
  | 'member cut off'
  | 'leader cut off'
  | 'member at half speed'
  | 'member at a low rate'
  | 'member loses packets';

/** Kinds of faults of the store as a whole. */
export type StoreKind = 'majority lost' | 'rolling restart' | 'compaction' | 'no space';

/** Kinds of removals of an entry by an operator. */
export type QueueKind = 'holder removed' | 'waiter removed';

export type FaultKind = WorkerKind | MemberKind | StoreKind | QueueKind;

/**
 * The conditions that decide which faults are possible: the store, the number of workers, and abilities of
 * the machine.
 */
export interface Capabilities {
  readonly store: StoreName;
  readonly workers: number;
  readonly members: number;
  /** Number of the run's queues in which an operator removes entries. */
  readonly operatedQueues: number;
  readonly ttlMs: number;
  /** Whether the machine can make network links lose single packets. */
  readonly loss: boolean;
}

/**
 * One kind of fault: its duration, its target, and its probability relative to the other kinds in its list.
 */
export interface Item<K extends FaultKind = FaultKind> {
  readonly kind: K;
  readonly weight: number;
  /**
   * Shortest and longest duration in milliseconds. A kind of fault has either this range or `lastsTtls`, a
   * range in TTLs. Short durations are drawn more often than long ones.
   */
  readonly lastsMs?: readonly [least: number, most: number];
  readonly lastsTtls?: readonly [least: number, most: number];
  /**
   * Directions of traffic from which a fault draws the one that it affects: `in`, `out`, or `both`. Default:
   * always `both`.
   */
  readonly directions?: readonly Direction[];
  /** `true` if this fault of a worker concerns one member of the cluster. */
  readonly ofOneMember?: true;
  /** `true` if this fault strikes the member that leads the cluster. */
  readonly ofLeader?: true;
  /** Returns whether the fault is possible. Default: always. */
  readonly isPossible?: (capabilities: Capabilities) => boolean;
}

const isEtcd = ({ store }: Capabilities): boolean => store === 'etcd';
const canLose = ({ loss }: Capabilities): boolean => loss;
const ANY_WAY = ['both', 'both', 'in', 'out'] as const;
const FROM_A_THIRD = [0.3, 1.5] as const;
// Shortest and longest duration of a member's fault, in TTLs. Most of these faults outlast the session of a
// worker that stays connected to the member.
const TO_TWICE = [0.6, 2] as const;

/**
 * The faults of workers. A fault that blocks a queue until a session expires has a low weight, because it
 * takes much time. A kill does too, and the start of the next process takes much processor time. All other
 * faults end quickly.
 */
export const WORKER_FAULTS: readonly Item<WorkerKind>[] = [
  { kind: 'worker killed', weight: 5, lastsMs: [100, 1_000] },
  { kind: 'worker frozen', weight: 6, lastsTtls: FROM_A_THIRD },
  { kind: 'worker stalled', weight: 24, lastsTtls: [0.01, 1.2] },
  { kind: 'connections reset', weight: 30, lastsMs: [0, 200] },
  { kind: 'worker cut from all', weight: 5, lastsTtls: FROM_A_THIRD },
  {
    kind: 'worker cut from one',
    weight: 14,
    lastsTtls: [0.1, 1],
    directions: ANY_WAY,
    ofOneMember: true,
  },
  { kind: 'requests lost', weight: 4, lastsTtls: [0.05, 0.5] },
  { kind: 'replies lost', weight: 12, lastsTtls: [0.02, 0.3] },
];

export const MEMBER_FAULTS: readonly Item<MemberKind>[] = [
  { kind: 'member killed', weight: 10, lastsMs: [500, 5_000] },
  { kind: 'member frozen', weight: 8, lastsTtls: FROM_A_THIRD },
  { kind: 'leader killed', weight: 10, lastsMs: [500, 5_000], ofLeader: true },
  { kind: 'leader frozen', weight: 10, lastsTtls: FROM_A_THIRD, ofLeader: true },
  { kind: 'member cut off', weight: 9, lastsTtls: TO_TWICE, directions: ANY_WAY },
  { kind: 'leader cut off', weight: 9, lastsTtls: TO_TWICE, directions: ANY_WAY, ofLeader: true },
  { kind: 'member at half speed', weight: 5, lastsMs: [2_000, 8_000] },
  { kind: 'member at a low rate', weight: 5, lastsMs: [2_000, 8_000] },
  { kind: 'member loses packets', weight: 5, lastsMs: [2_000, 8_000], isPossible: canLose },
];

export const STORE_FAULTS: readonly Item<StoreKind>[] = [
  { kind: 'majority lost', weight: 3, lastsMs: [2_000, 8_000] },
  { kind: 'rolling restart', weight: 3, lastsMs: [0, 3_000] },
  { kind: 'compaction', weight: 6, lastsMs: [1_000, 4_000], isPossible: isEtcd },
  { kind: 'no space', weight: 5, lastsMs: [1_000, 4_000], isPossible: isEtcd },
];

export const QUEUE_FAULTS: readonly Item<QueueKind>[] = [
  { kind: 'holder removed', weight: 1, lastsMs: [0, 0] },
  { kind: 'waiter removed', weight: 1, lastsMs: [0, 0] },
];
