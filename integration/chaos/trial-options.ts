import type { ClusterClient } from '@queuelock/harness/clusters';
import type { Limits } from '@queuelock/harness/check/limits';
import type { LeftOver } from './leftovers.ts';
import type { Timing } from './profiles.ts';
import type { Rule, WorkerSetup } from './worker-command.ts';

/** The servers on which a trial runs. */
export interface Ground {
  /** Returns the URL of the store for a worker that uses these addresses of the servers. */
  url(endpoints: readonly string[]): string;
  /** Returns a location for a worker that uses no proxy of this process. */
  addPlace(): Promise<ClusterClient>;
  /**
   * Ends all faults. This must come before workers end, since a server does not notice the end of a client
   * that is cut off.
   */
  heal(): Promise<unknown>;
  /** Reads what is left on the servers of these queues, and all sessions. */
  leftOvers(queues: readonly string[]): Promise<readonly LeftOver[]>;
  /**
   * Returns the address of the fenced resource in the store itself, for a unique name. A store without this
   * function has no such resource.
   */
  resource?(name: string): string;
}

export interface TrialSettings {
  readonly timing: Timing;
  /** The rule by which workers believe in their holds. Default: `product`. */
  readonly rule?: Rule;
  /** Replaces the core's safety margin, in milliseconds. */
  readonly safetyMarginMs?: number;
  /** Longest hold of the load, in milliseconds. Default 1,000. */
  readonly holdMs?: number;
  /** Limits that replace those of the timing. */
  readonly limits?: Partial<Limits>;
}

/** Options of one worker. */
export interface WorkerOptions extends Partial<
  Pick<WorkerSetup, 'ttlMs' | 'heartbeatIntervalMs' | 'seed' | 'quiet' | 'clients' | 'clock'>
> {
  readonly rule?: Rule;
  /**
   * Other addresses of the members, in the same order, which lead to proxies of this process. The worker then
   * runs directly on this machine, as the proxies do.
   */
  readonly detour?: readonly string[];
  /** The location of the worker. Default: a new one. */
  readonly place?: ClusterClient;
  /** Returns the URL for the worker from the addresses of the members. Default: the URL of the profile. */
  readonly url?: (endpoints: readonly string[]) => string;
  /** Additional environment variables of the worker. */
  readonly env?: Readonly<Record<string, string>>;
}
