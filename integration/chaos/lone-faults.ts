import { setTimeout as pause } from 'node:timers/promises';
import type { LoneTrial, Traveller } from './lone-trial.ts';

/** Longer than the life of a session without renewals, in TTLs. */
const LONG_TTLS = 1.5;
const SHORT_MS = 1_000;
const REST_MS = 1_000;

interface Subject {
  readonly trial: LoneTrial;
  readonly traveller: Traveller;
  readonly longMs: number;
}

/** A fault from its beginning to its end. */
interface LoneFault {
  /** Whether it affects the server and so all workers, instead of one worker or its connection. */
  readonly isOfServer?: true;
  readonly strike: (subject: Subject) => Promise<void>;
}

const FAULTS: Readonly<Record<string, LoneFault>> = {
  'worker killed': {
    strike: async ({ trial, traveller }) => {
      await traveller.worker.kill();
      await trial.replace(traveller);
    },
  },
  'worker frozen': {
    strike: async ({ traveller: { worker }, longMs }) => {
      await worker.freeze();
      await pause(longMs);
      await worker.thaw();
    },
  },
  'connections reset': {
    strike: async ({ traveller: { detour } }) => {
      detour.cut();
    },
  },
  'worker cut off': {
    strike: async ({ traveller: { detour }, longMs }) => {
      detour.loseAll();
      await pause(longMs);
      await detour.heal();
      detour.cut();
    },
  },
  'replies lost': {
    strike: async ({ traveller: { detour } }) => {
      detour.loseReplies();
      await pause(SHORT_MS);
      await detour.heal();
      detour.cut();
    },
  },
  'requests held up': {
    strike: async ({ traveller: { detour }, longMs }) => {
      for (const { toServer } of detour.proxies) toServer.hold();
      await pause(longMs);
      await detour.heal();
    },
  },
  'server killed': {
    isOfServer: true,
    strike: async ({ trial: { server } }) => {
      await server.kill();
      await server.restart();
    },
  },
  'server restarted': { isOfServer: true, strike: ({ trial: { server } }) => server.restart() },
  'server frozen': { isOfServer: true, strike: ({ trial }) => standStill(trial, SHORT_MS) },
  'server frozen for long': {
    isOfServer: true,
    strike: ({ trial, longMs }) => standStill(trial, longMs),
  },
};

/** Makes the faults one after another, in a random order and on random workers. */
export async function strikeAll(trial: LoneTrial): Promise<void> {
  for (const [name, { isOfServer, strike }] of trial.chance.shuffled(Object.entries(FAULTS))) {
    await pause(REST_MS);
    const traveller = trial.travellers[trial.chance.wholeBelow(trial.travellers.length)]!;
    const target = isOfServer ? 'server' : traveller.worker.id;
    const longMs = LONG_TTLS * trial.timing.ttlMs;
    const healed = await trial.fault(name, target, () => strike({ trial, traveller, longMs }));
    healed();
  }
}

async function standStill({ server }: LoneTrial, ms: number): Promise<void> {
  await server.freeze();
  await pause(ms);
  await server.thaw();
}
