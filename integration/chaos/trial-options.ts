import type { ClusterClient } from '@queuelock/harness/clusters';
import type { Limits } from '@queuelock/harness/check/limits';
import type { LeftOver } from './leftovers.ts';
import type { Timing } from './profiles.ts';
import type { Rule, WorkerSetup } from './worker-command.ts';

/** The servers on which a trial runs. */
export interface Ground {
  /**
   * Returns the URL of the store for a worker that reaches the servers, or the proxies before them, at the
   * given addresses.
   */
  url(endpoints: readonly string[]): string;
  /** Returns a new address of a worker in the test network, so that its links can be cut separately. */
  addPlace(): Promise<ClusterClient>;
  /**
   * Ends all faults. This must come before workers end, since a server does not notice the end of a client
   * that is cut off.
   */
  heal(): Promise<unknown>;
  /** Reads what the servers still store for the given queues, and all sessions. */
  leftOvers(queues: readonly string[]): Promise<readonly LeftOver[]>;
  /**
   * Returns the address of a fenced resource in the store itself, with a unique name. Omitted for a store
   * that has no such resource.
   */
  resource?(name: string): string;
}

export interface TrialSettings {
  readonly timing: Timing;
  /**
   * The rule by which workers decide how long they still hold. `product` is the rule of queuelock itself, and
   * all other rules are weaker. Default: `product`.
   */
  readonly rule?: Rule;
  /** Seed of the trial's random choices. Default: the seed of the process. */
  readonly seed?: number;
  /** Safety margin of the workers' lock clients in milliseconds, instead of the core's default. */
  readonly safetyMarginMs?: number;
  /** Longest hold of a worker under load, in milliseconds. Default 1,000. */
  readonly holdMs?: number;
  /**
   * Limits for the checker, in place of the limits that the trial computes from its TTL and the times in
   * which servers detect a failure.
   */
  readonly limits?: Partial<Limits>;
}

/** Options of one worker. */
export interface WorkerOptions extends Partial<
  Pick<WorkerSetup, 'ttlMs' | 'heartbeatIntervalMs' | 'seed' | 'quiet' | 'clients' | 'clock'>
> {
  readonly rule?: Rule;
  /**
   * Addresses of proxies, one for each member in the same order. The proxies run in this process, so the
   * worker then runs on this machine, outside of the test network.
   */
  readonly detour?: readonly string[];
  /** The host in the test network at which the worker runs. Default: a new one. */
  readonly place?: ClusterClient;
  /** Returns the URL for the worker from the addresses of the members. Default: the URL for all members. */
  readonly url?: (endpoints: readonly string[]) => string;
  /** Additional environment variables of the worker. */
  readonly env?: Readonly<Record<string, string>>;
}
