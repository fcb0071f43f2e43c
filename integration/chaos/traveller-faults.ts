import { setTimeout as pause } from 'node:timers/promises';
import type { DetourTrial, Traveller } from './detour-trial.ts';
import { dealt, strikeInLanes } from './fault-lanes.ts';

/** Duration of a fault in TTLs, longer than a session lives without renewals. */
const LONG_TTLS = 1.5;
/** Duration in milliseconds of a fault that is too short to end a worker's session. */
export const SHORT_MS = 1_000;
/** Duration in milliseconds of a worker's blocked event loop: longer than a heartbeat takes, shorter than its TTL. */
const STALLED_MS = 500;
/**
 * Shortest time in milliseconds from one fault of the servers to the next, so that workers can connect again and
 * make progress in between.
 */
const SERVER_REST_MS = 6_000;
/** Time in milliseconds from one fault of a worker to the next fault in the same lane. */
const WORKER_REST_MS = 300;
/** Number of workers for each lane of faults, so that at most a third of the workers have a fault at a time. */
const WORKERS_PER_LANE = 3;

interface Subject {
  readonly trial: DetourTrial;
  readonly traveller: Traveller;
  readonly longMs: number;
}

/** A function that makes a fault of one worker or of its connection. Resolves when the fault is over. */
type TravellerFault = (subject: Subject) => Promise<void>;

/** A function that makes a fault of servers, which affects all workers. Resolves when the fault is over. */
export type ServerFault = (longMs: number) => Promise<void>;

/** How many faults a trial has. */
export interface StrikeOptions {
  /** Returns whether to end instead of making all faults once more. By default all are made once. */
  readonly isOver?: () => boolean;
  /** Factor of the times between faults of workers, and if it is above 1 also between faults of servers. Default 1. */
  readonly spacing?: number;
}

/** A kind of fault of workers, and how often it occurs relative to the other kinds. */
interface WorkerFault {
  readonly weight: number;
  readonly strike: TravellerFault;
}

type WorkerFaults = Readonly<Record<string, WorkerFault>>;

/**
 * The faults of the process of a worker. Faults that end a session have a low weight, because they block the
 * queues in which the worker has entries until the session has ended. The faults of connections do too.
 */
const PROCESS_FAULTS: WorkerFaults = {
  'worker killed': {
    weight: 1,
    strike: async ({ trial, traveller }) => {
      await traveller.worker.kill();
      await trial.replace(traveller);
    },
  },
  'worker frozen': { weight: 1, strike: ({ traveller }) => frozen(traveller, SHORT_MS) },
  'worker frozen for long': { weight: 1, strike: ({ traveller, longMs }) => frozen(traveller, longMs) },
  'worker stalled': {
    weight: 4,
    strike: async ({ traveller: { worker } }) => {
      worker.tell({ do: 'stall', ms: STALLED_MS });
      await pause(STALLED_MS);
    },
  },
};

/** The faults of the connections of a worker to the servers. A trial without servers has none. */
const CONNECTION_FAULTS: WorkerFaults = {
  'connections reset': { weight: 5, strike: async ({ traveller: { detour } }) => detour.cut() },
  'worker cut off': { weight: 1, strike: ({ traveller }) => cutOff(traveller, SHORT_MS) },
  'worker cut off for long': { weight: 1, strike: ({ traveller, longMs }) => cutOff(traveller, longMs) },
  'replies lost': {
    weight: 2,
    strike: async ({ traveller: { detour } }) => {
      detour.loseReplies();
      await pause(SHORT_MS);
      await detour.reconnect();
    },
  },
  'requests held up': { weight: 1, strike: ({ traveller }) => heldUp(traveller, SHORT_MS) },
  'requests held up for long': { weight: 1, strike: ({ traveller, longMs }) => heldUp(traveller, longMs) },
};

async function frozen({ worker }: Traveller, ms: number): Promise<void> {
  await worker.freeze();
  await pause(ms);
  await worker.thaw();
}

async function cutOff({ detour }: Traveller, ms: number): Promise<void> {
  detour.loseAll();
  await pause(ms);
  await detour.reconnect();
}

async function heldUp({ detour }: Traveller, ms: number): Promise<void> {
  for (const { toServer } of detour.proxies) toServer.hold();
  await pause(ms);
  await detour.heal();
}

/**
 * Makes the given faults of servers and all faults of workers in random order, those of workers as often as
 * their weight gives. Repeats this in another order until `isOver` returns true; by default it does not. One
 * fault of servers is active at a time. Beside it, up to a third of the workers have a fault at a time.
 */
export async function strikeAll(
  trial: DetourTrial,
  serverFaults: Readonly<Record<string, ServerFault>>,
  { isOver = () => true, spacing = 1 }: StrikeOptions = {},
): Promise<void> {
  const { chance, travellers } = trial;
  const longMs = LONG_TTLS * trial.timing.ttlMs;
  const strikeOne = async (what: string, target: string, strike: () => Promise<void>): Promise<void> => {
    const healed = await trial.fault(what, target, strike);
    healed();
  };
  const ofServers = strikeInLanes({
    chance,
    faults: dealt(chance, Object.entries(serverFaults), isOver),
    subjects: ['server'],
    lanes: 1,
    restMs: Math.max(1, spacing) * SERVER_REST_MS,
    strike: ([name, strike], server) => strikeOne(name, server, () => strike(longMs)),
  });
  const ofWorkers = strikeInLanes({
    chance,
    faults: dealt(chance, weighted(travellers), isOver),
    subjects: travellers,
    lanes: travellers.length / WORKERS_PER_LANE,
    restMs: spacing * WORKER_REST_MS,
    strike: ([name, { strike }], traveller) =>
      strikeOne(name, traveller.worker.id, () => strike({ trial, traveller, longMs })),
  });
  await Promise.all([ofServers, ofWorkers]);
}

/** Returns each possible fault of these workers as often as its weight gives. */
function weighted(
  travellers: readonly Traveller[],
): readonly (readonly [name: string, fault: WorkerFault])[] {
  const hasConnections = travellers.some(({ detour }) => detour.proxies.length > 0);
  const possible = { ...PROCESS_FAULTS, ...(hasConnections && CONNECTION_FAULTS) };
  return Object.entries(possible).flatMap((named) => Array.from({ length: named[1].weight }, () => named));
}
