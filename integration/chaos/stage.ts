import type { Member } from '@queuelock/harness/clusters';
import type { RemovedEntry } from '@queuelock/harness/check/event';

import { MEMBER_ACTIONS } from './faults-member.ts';
import type { MemberKind, QueueKind, StoreKind, WorkerKind } from './faults-menu.ts';
import { findInLine, removeForSure } from './faults-queue.ts';
import { STORE_ACTIONS } from './faults-store.ts';
import { WORKER_ACTIONS } from './faults-worker.ts';
import { struckMember } from './paused-leader.ts';
import type { Fault } from './schedule.ts';

import type { Undo, Stage } from './fault-stage.ts';

/**
 * Begins and records a fault. Returns the function that ends the fault, or `undefined` if the fault has no
 * target.
 */
export async function strike(stage: Stage, fault: Fault): Promise<Undo | undefined> {
  if (fault.worker !== undefined) return strikeWorker(stage, fault);
  if (fault.queue !== undefined) return strikeQueue(stage, fault);
  if (fault.member !== undefined) return strikeMember(stage, fault);
  const kind = fault.kind as StoreKind;
  return strikeCluster(stage, { what: kind, target: 'store' }, () =>
    STORE_ACTIONS[kind]({ ...stage, fault }),
  );
}

async function strikeWorker(stage: Stage, fault: Fault): Promise<Undo | undefined> {
  const worker = stage.worker(fault.worker!);
  if (!worker) return undefined;
  const kind = fault.kind as WorkerKind;
  return written(stage, { what: nameOf(fault), target: worker.id }, () =>
    WORKER_ACTIONS[kind]({ stage, fault, worker }),
  );
}

async function strikeQueue(stage: Stage, fault: Fault): Promise<Undo | undefined> {
  const queue = stage.operated[fault.queue!]!;
  const entry = await findInLine(stage.cluster, queue, fault.kind as QueueKind);
  if (entry === undefined) return undefined;
  return written(stage, { what: fault.kind, target: queue, entries: [entry] }, async () => {
    await removeForSure(stage.cluster, entry);
    return async () => undefined;
  });
}

async function strikeMember(stage: Stage, fault: Fault): Promise<Undo> {
  const { cluster } = stage;
  const drawn: Member = fault.member === 'leader' ? await cluster.leader() : cluster.members[fault.member!]!;
  const member = await struckMember(cluster, fault.kind, drawn);
  const kind = (member === drawn ? fault.kind : 'member frozen') as MemberKind;
  return strikeCluster(stage, { what: nameOf({ ...fault, kind }), target: member.node }, () =>
    MEMBER_ACTIONS[kind]({ fault, member }),
  );
}

/**
 * Longest time in milliseconds until all members follow one leader after a fault. A leader of etcd 3.4 that was cut off
 * for 10 s took more than 90 s on a busy machine until it served requests again.
 */
export const REJOINS_WITHIN_MS = 180_000;

/** Makes a fault of the cluster. The fault counts as ended only when all members follow one leader again. */
function strikeCluster(stage: Stage, names: Names, begin: () => Promise<Undo>): Promise<Undo> {
  return written(stage, names, async () => {
    const undo = await begin();
    return async () => {
      await undo();
      await stage.cluster.ready(REJOINS_WITHIN_MS);
    };
  });
}

interface Names {
  readonly what: string;
  readonly target: string;
  readonly entries?: readonly RemovedEntry[];
}

async function written(
  stage: Stage,
  { what, target, ...more }: Names,
  begin: () => Promise<Undo>,
): Promise<Undo> {
  let undo: Undo = async () => undefined;
  const healed = await stage.experiment.fault(what, target, async () => (undo = await begin()), more);
  return async () => {
    await undo();
    healed();
  };
}

/**
 * Returns the name of a fault for the history, for instance `member cut off`. The name of a fault that
 * affects one direction of traffic ends in `(one way)`.
 */
function nameOf({ kind, direction = 'both' }: Fault): string {
  return direction === 'both' ? kind : `${kind} (one way)`;
}
