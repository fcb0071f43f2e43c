import { until } from '@queuelock/harness/services/until';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Detour } from './detour.ts';
import { lateByMs, loneServer, loneUrl, presentAt, type LoneStoreName } from './lone-stores.ts';
import { Trial } from './trial.ts';
import type { Ground, TrialSettings } from './trial-options.ts';
import type { WorkerProcess } from './worker-process.ts';
import type { LoadCommand } from './worker-load.ts';

/** A worker and its own proxy to the server. */
export interface Traveller {
  worker: WorkerProcess;
  readonly detour: Detour;
}

const LOOK_WITHIN_MS = 20_000;
const TTL_MS = 3_000;
const WORKERS = 4;
// All of them end at the same time.
const EXIT_WITHIN_MS = 10_000;

/** Times that are as short as a loaded machine permits. */
const TIMING = {
  ttlMs: TTL_MS,
  safetyMarginMs: 200,
  expiryMs: 1_000,
  withLeaderLossMs: 2 * TTL_MS + 5_000,
} as const;

/** Longest hold in queues that always have a holder and waiters, whatever a fault affects. */
const LONGEST_HOLD_MS = 2 * TTL_MS;
const GIVEN_UP = { cancelShare: 0.05, abortShare: 0.02 } as const;

/** Starts the single server of this kind and workers that load it. */
export async function startLoneTrial(
  store: LoneStoreName,
  settings: Pick<TrialSettings, 'rule'> = {},
): Promise<LoneTrial> {
  const trial = new LoneTrial(store, await loneServer(store), settings);
  await trial.begin();
  return trial;
}

/** A trial on a store with a single server, whose workers each have their own proxy to it. */
export class LoneTrial extends Trial {
  readonly store: LoneStoreName;
  readonly server: ProcessService;
  readonly travellers: Traveller[] = [];
  readonly #loads: readonly LoadCommand[];

  constructor(store: LoneStoreName, server: ProcessService, settings: Pick<TrialSettings, 'rule'>) {
    super(groundOf(store, server), {
      ...settings,
      timing: { ...TIMING, expiryMs: TIMING.expiryMs + lateByMs(store, TTL_MS) },
      holdMs: LONGEST_HOLD_MS,
      limits: { exitMs: EXIT_WITHIN_MS },
    });
    this.store = store;
    this.server = server;
    const named = (name: string): readonly string[] => [1, 2].map((nth) => this.queue(`${name}-${nth}`));
    this.#loads = [
      { do: 'load', queues: named('busy'), holdMs: [0, 20], parallel: 3, ...GIVEN_UP },
      { do: 'load', queues: named('steady'), holdMs: [0, LONGEST_HOLD_MS], parallel: 2, ...GIVEN_UP },
    ];
  }

  async begin(): Promise<void> {
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        const detour = await Detour.start(this.server);
        this.travellers.push({ worker: await this.#worker(detour), detour });
      }),
    );
  }

  /** Starts another worker in the place of a killed one. */
  async replace(traveller: Traveller): Promise<void> {
    // A dead worker must not take part in the end.
    this.workers.splice(this.workers.indexOf(traveller.worker), 1);
    traveller.worker = await this.#worker(traveller.detour);
  }

  async #worker(detour: Detour): Promise<WorkerProcess> {
    const worker = await this.addWorker({ detour: detour.endpoints });
    for (const load of this.#loads) worker.tell(load);
    return worker;
  }
}

function groundOf(store: LoneStoreName, server: ProcessService): Ground {
  return {
    url: ([endpoint = '']) => loneUrl(store, endpoint),
    addPlace: () => Promise.reject(new Error('workers take a detour')),
    heal: () => server.thaw(),
    leftOvers: (queues) =>
      until(() => presentAt(loneUrl(store, server.endpoint), queues), {
        what: `a look at all of ${store}`,
        withinMs: LOOK_WITHIN_MS,
      }),
  };
}
