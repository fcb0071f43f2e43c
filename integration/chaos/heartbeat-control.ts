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

/** Longer than the TTL of these trials, and shorter than twice the TTL, for which the weaker rule relies on a heartbeat. */
const STALLED_MS = 5_000;

/**
 * Blocks the event loop of the worker. It sends no heartbeats, and does not notice that its entry was removed. Directly
 * afterwards it reads whether it still holds.
 */
export const stalled: HeartbeatFault = {
  name: 'worker stalled',
  strike: ({ worker }) => worker.tell({ do: 'stall', ms: STALLED_MS }),
  heal: async () => undefined,
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
