import { setTimeout as pause } from 'node:timers/promises';
import type { DetourTrial, Traveller } from './detour-trial.ts';

/** Duration of a fault in TTLs, longer than a session lives without renewals. */
const LONG_TTLS = 1.5;
/** Duration in milliseconds of a fault that is too short to end a worker's session. */
export const SHORT_MS = 1_000;
const REST_MS = 1_000;

interface Subject {
  readonly trial: DetourTrial;
  readonly traveller: Traveller;
  readonly longMs: number;
}

/** A function that makes a fault of one worker or of its connection. Resolves when the fault is over. */
type TravellerFault = (subject: Subject) => Promise<void>;

/** A function that makes a fault of servers, which affects all workers. Resolves when the fault is over. */
export type ServerFault = (longMs: number) => Promise<void>;

const FAULTS: Readonly<Record<string, TravellerFault>> = {
  'worker killed': async ({ trial, traveller }) => {
    await traveller.worker.kill();
    await trial.replace(traveller);
  },
  'worker frozen': async ({ traveller: { worker }, longMs }) => {
    await worker.freeze();
    await pause(longMs);
    await worker.thaw();
  },
  'connections reset': async ({ traveller: { detour } }) => {
    detour.cut();
  },
  'worker cut off': async ({ traveller: { detour }, longMs }) => {
    detour.loseAll();
    await pause(longMs);
    await detour.heal();
    detour.cut();
  },
  'replies lost': async ({ traveller: { detour } }) => {
    detour.loseReplies();
    await pause(SHORT_MS);
    await detour.heal();
    detour.cut();
  },
  'requests held up': async ({ traveller: { detour }, longMs }) => {
    for (const { toServer } of detour.proxies) toServer.hold();
    await pause(longMs);
    await detour.heal();
  },
};

/**
 * Makes all faults, one after another in random order: the given faults of servers, and every fault of
 * workers, each on a random worker.
 */
export async function strikeAll(
  trial: DetourTrial,
  serverFaults: Readonly<Record<string, ServerFault>>,
): Promise<void> {
  const longMs = LONG_TTLS * trial.timing.ttlMs;
  const ofServers = Object.entries(serverFaults).map(([name, strike]) => async (): Promise<void> => {
    const healed = await trial.fault(name, 'server', () => strike(longMs));
    healed();
  });
  const ofTravellers = Object.entries(FAULTS).map(([name, strike]) => async (): Promise<void> => {
    const traveller = trial.travellers[trial.chance.wholeBelow(trial.travellers.length)]!;
    const healed = await trial.fault(name, traveller.worker.id, () => strike({ trial, traveller, longMs }));
    healed();
  });
  for (const strike of trial.chance.shuffled([...ofServers, ...ofTravellers])) {
    await pause(REST_MS);
    await strike();
  }
}
