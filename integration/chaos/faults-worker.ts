import type { Direction } from '@queuelock/harness/clusters/links';
import type { Member } from '@queuelock/harness/clusters';
import type { WorkerKind } from './faults-menu.ts';
import type { Fault } from './schedule.ts';
import type { Stage, Undo } from './fault-stage.ts';
import type { WorkerProcess } from './worker-process.ts';

interface Subject {
  readonly stage: Stage;
  readonly fault: Fault;
  readonly worker: WorkerProcess;
}

/** Functions that begin a fault of one worker, and return the function to undo it. */
export const WORKER_ACTIONS: Readonly<Record<WorkerKind, (subject: Subject) => Promise<Undo>>> = {
  'worker killed': async ({ stage, fault, worker }) => {
    await worker.kill();
    return () => stage.replace(fault.worker!);
  },
  'worker frozen': async ({ worker }) => {
    await worker.freeze();
    return () => worker.thaw();
  },
  'worker stalled': async ({ fault, worker }) => {
    worker.tell({ do: 'stall', ms: fault.durationMs });
    return async () => undefined;
  },
  'connections reset': ({ stage, worker }) => cut(stage.cluster.members, { worker, as: 'reset' }),
  'worker cut from all': ({ stage, worker }) => cut(stage.cluster.members, { worker, as: 'silence' }),
  'worker cut from one': ({ stage, fault, worker }) => {
    const { direction = 'both' } = fault;
    return cut([stage.cluster.members[fault.member as number]!], { worker, as: 'silence', direction });
  },
  'requests lost': ({ stage, worker }) =>
    cut(stage.cluster.members, { worker, as: 'silence', direction: 'in' }),
  'replies lost': async ({ stage, worker }) => {
    const undo = await cut(stage.cluster.members, { worker, as: 'silence', direction: 'out' });
    return async () => {
      // Resets the worker's connections, so that the data which the fault has held back is lost. Otherwise
      // the data would only arrive late.
      const mend = await cut(stage.cluster.members, { worker, as: 'reset' });
      await undo();
      await mend();
    };
  },
};

interface Links {
  readonly worker: WorkerProcess;
  readonly as: 'silence' | 'reset';
  readonly direction?: Direction;
}

async function cut(members: readonly Member[], { worker, ...how }: Links): Promise<Undo> {
  const undos = await Promise.all(members.map((member) => member.cut({ from: worker.place!, ...how })));
  return async () => {
    await Promise.all(undos.map((undo) => undo()));
  };
}
