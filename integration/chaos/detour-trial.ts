import { until } from '@queuelock/harness/services/until';
import { briefLoad } from './brief-load.ts';
import { Detour } from './detour.ts';
import { drain } from './drain.ts';
import { LiveFacts } from './live.ts';
import { presentAt } from './lone-stores.ts';
import type { Timing } from './profiles.ts';
import type { Ground, TrialSettings } from './trial-options.ts';
import { Trial } from './trial.ts';
import type { LoadCommand } from './worker-load.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker, and its own proxies to the servers. */
export interface Traveller {
  worker: WorkerProcess;
  readonly detour: Detour;
}

/** The servers of a trial whose workers have their own proxies to them. */
export interface DetourSite {
  readonly store: string;
  readonly servers: Servers;
  /** Returns the URL of the backend for the given server addresses, which are those of the proxies. */
  readonly url: (endpoints: readonly string[]) => string;
  readonly timing: Timing;
}

export interface DetourSettings extends Pick<TrialSettings, 'rule' | 'seed'> {
  /** Whether the events of the workers are only in the histories; see `WorkerSetup`. Default: false. */
  readonly quiet?: boolean;
}

interface Servers {
  readonly endpoints: readonly string[];
  /** Resumes all servers that a fault has frozen. */
  thaw(): Promise<unknown>;
}

const READ_WITHIN_MS = 20_000;
const WORKERS = 12;
// Time limit in milliseconds for the end of a worker. It is long, because all workers end at the same time.
const EXIT_WITHIN_MS = 10_000;
/** Longest hold of a worker in TTLs, in the queues named `steady`, which always have a holder and waiters. */
const LONGEST_HOLD_TTLS = 2;
const GIVEN_UP = { cancelShare: 0.05, abortShare: 0.02 } as const;
const BRIEF_AT_A_TIME = 6;

/** A trial whose workers each have their own proxies to the servers, so that a fault affects one worker or all. */
export class DetourTrial extends Trial {
  readonly store: string;
  readonly travellers: Traveller[] = [];
  readonly #servers: Servers;
  readonly #quiet: boolean;
  readonly #loads: readonly LoadCommand[];

  constructor(site: DetourSite, { quiet = false, ...settings }: DetourSettings = {}) {
    const longestHoldMs = LONGEST_HOLD_TTLS * site.timing.ttlMs;
    super(groundOf(site), {
      ...settings,
      timing: site.timing,
      holdMs: longestHoldMs,
      limits: { exitMs: EXIT_WITHIN_MS },
    });
    this.store = site.store;
    this.#servers = site.servers;
    this.#quiet = quiet;
    const named = (name: string, count: number): readonly string[] =>
      Array.from({ length: count }, (_, index) => this.queue(`${name}-${index + 1}`));
    this.#loads = [
      briefLoad((name) => this.queue(name), BRIEF_AT_A_TIME),
      { do: 'load', queues: named('busy', 2), holdMs: [0, 20], parallel: 2, ...GIVEN_UP },
      { do: 'load', queues: named('steady', 4), holdMs: [0, longestHoldMs], parallel: 2, ...GIVEN_UP },
    ];
  }

  async begin(): Promise<void> {
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        const detour = await Detour.start(this.#servers);
        this.travellers.push({ worker: await this.#worker(detour), detour });
      }),
    );
  }

  /** Starts another worker with the proxies of a killed one. */
  async replace(traveller: Traveller): Promise<void> {
    // Removes the killed worker from the trial, which would otherwise wait for it at the end.
    this.workers.splice(this.workers.indexOf(traveller.worker), 1);
    traveller.worker = await this.#worker(traveller.detour);
  }

  override async finish(): Promise<void> {
    if (this.#quiet) await this.#drain();
    await super.finish();
  }

  /** Waits for the claims of quiet workers, which only the histories show. */
  async #drain(): Promise<void> {
    const live = new LiveFacts(this.directory);
    await drain(this, live).finally(() => live.close());
  }

  async #worker(detour: Detour): Promise<WorkerProcess> {
    const worker = await this.addWorker({ detour: detour.endpoints, quiet: this.#quiet });
    for (const load of this.#loads) worker.tell(load);
    return worker;
  }
}

function groundOf({ store, servers, url }: DetourSite): Ground {
  return {
    url,
    addPlace: () => Promise.reject(new Error('workers take a detour')),
    heal: () => servers.thaw(),
    leftOvers: (queues) =>
      until(() => presentAt(url(servers.endpoints), queues), {
        what: `a look at all of ${store}`,
        withinMs: READ_WITHIN_MS,
      }),
  };
}
