import type { ProcessService } from '@queuelock/harness/services/service';
import { DetourTrial, type DetourSettings } from './detour-trial.ts';
import { lateByMs, loneServer, loneUrl, type LoneStoreName } from './lone-stores.ts';
import { LONE_TIMING } from './profiles.ts';

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
    const { ttlMs, expiryMs } = LONE_TIMING;
    const timing = { ...LONE_TIMING, expiryMs: expiryMs + lateByMs(store, ttlMs) };
    const url = ([endpoint = '']: readonly string[]): string => loneUrl(store, endpoint);
    super({ store, servers: server, url, timing }, settings);
    this.server = server;
  }
}
