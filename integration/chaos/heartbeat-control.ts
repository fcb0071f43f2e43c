import { expect } from 'chai';
import { isUnsafe } from '@queuelock/harness/check/finding';
import type { DetourTrial, Traveller } from './detour-trial.ts';
import { granted, holdNow, standIn } from './standing.ts';

/** A fault of one worker which stops its heartbeats. */
interface HeartbeatFault {
  readonly name: string;
  strike(traveller: Traveller): void;
  heal(traveller: Traveller): Promise<void>;
}

/** Loses all traffic of the worker. */
export const cutOff: HeartbeatFault = {
  name: 'worker cut off',
  strike: ({ detour }) => detour.loseAll(),
  heal: ({ detour }) => detour.reconnect(),
};

/** Makes the worker send no heartbeats. */
export const heartbeatsStopped: HeartbeatFault = {
  name: 'heartbeats stopped',
  strike: ({ worker }) => worker.tell({ do: 'beats', sent: false }),
  heal: async ({ worker }) => worker.tell({ do: 'beats', sent: true }),
};

/**
 * Expects that two workers hold at the same time, in a trial whose clients rely on a heartbeat for longer than
 * it proves, after `fault` has stopped the heartbeats of the holder. This shows that the checker finds such
 * violations.
 */
export async function expectTwoHolders(trial: DetourTrial, fault: HeartbeatFault): Promise<void> {
  const [first, next] = trial.travellers as [Traveller, Traveller];
  const { worker } = first;
  const queue = trial.queue('held');
  await holdNow(worker, queue);
  const place = await standIn(next.worker, queue);
  // Waits for a heartbeat before the fault begins. Only a heartbeat makes the holder believe for too long that
  // it holds. The opening of its session does not.
  await worker.untilEvent('beat', { from: worker.events.length });
  const healed = await trial.fault(fault.name, worker.id, async () => fault.strike(first));
  await granted(next.worker, place);
  await fault.heal(first);
  healed();
  const { findings } = await trial.end();
  expect(findings.filter(isUnsafe).map(({ rule }) => rule)).to.include('S2');
}
