import type { ProcessService } from '@queuelock/harness/services/service';
import { DetourTrial, type DetourSettings } from './detour-trial.ts';
import { lateByMs, loneServer, loneUrl, type LoneStoreName } from './lone-stores.ts';

const TTL_MS = 3_000;

/**
 * TTL, safety margin and time limits of the trial in milliseconds, as short as works reliably on a busy
 * machine.
 */
const TIMING = {
  ttlMs: TTL_MS,
  safetyMarginMs: 200,
  expiryMs: 1_000,
  withLeaderLossMs: 2 * TTL_MS + 5_000,
} as const;

/** Starts a trial: workers that take locks on the single server of this store. */
export async function startLoneTrial(
  store: LoneStoreName,
  settings: DetourSettings = {},
): Promise<LoneTrial> {
  const trial = new LoneTrial(store, await loneServer(store), settings);
  await trial.begin();
  return trial;
}

/** A trial on a store with a single server, whose workers each have their own proxy to it. */
export class LoneTrial extends DetourTrial {
  readonly server: ProcessService;

  constructor(store: LoneStoreName, server: ProcessService, settings: DetourSettings) {
    const timing = { ...TIMING, expiryMs: TIMING.expiryMs + lateByMs(store, TTL_MS) };
    const url = ([endpoint = '']: readonly string[]): string => loneUrl(store, endpoint);
    super({ store, servers: server, url, timing }, settings);
    this.server = server;
  }
}
