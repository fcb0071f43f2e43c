import type { Cluster } from '@queuelock/harness/clusters';
import { presentOn } from './leftovers.ts';
import { timingOf, urlOf, type Profile, type StoreName } from './profiles.ts';
import { sharedCluster } from './shared-clusters.ts';
import { Trial } from './trial.ts';
import type { Ground, TrialSettings } from './trial-options.ts';

export { abandonTrials } from './trial.ts';
export type { WorkerOptions } from './trial-options.ts';

export interface ExperimentOptions extends Omit<TrialSettings, 'timing'> {
  readonly store: StoreName;
  /** Name of the timing with which the servers run. Default: `fast`. */
  readonly profile?: Profile;
  /** Number of workers that are started at the beginning. Default 0. */
  readonly workers?: number;
  /** Whether to use the shortest allowed TTL, for faults that last as long as the TTL. */
  readonly quickTtl?: boolean;
}

/**
 * Returns an experiment on the cluster that all tests of this store and profile share. First ends all faults
 * of the shared cluster.
 */
export async function startExperiment(options: ExperimentOptions): Promise<Experiment> {
  const { store, profile = 'fast', workers = 0, quickTtl = false } = options;
  const cluster = await sharedCluster(store, profile);
  await cluster.recover();
  const experiment = new Experiment(cluster, {
    ...options,
    profile,
    timing: timingOf(store, profile, quickTtl),
  });
  await experiment.addWorkers(workers);
  return experiment;
}

interface ExperimentSettings extends TrialSettings {
  readonly store: StoreName;
  readonly profile: Profile;
}

/** A trial on a cluster of three etcd or ZooKeeper members. */
export class Experiment extends Trial {
  readonly cluster: Cluster;
  readonly store: StoreName;

  constructor(cluster: Cluster, settings: ExperimentSettings) {
    super(groundOf(cluster, settings), settings);
    this.cluster = cluster;
    this.store = settings.store;
  }
}

function groundOf(cluster: Cluster, { store, profile }: ExperimentSettings): Ground {
  return {
    url: (endpoints) => urlOf(store, profile, endpoints),
    addPlace: () => cluster.addClient(),
    heal: () => Promise.all(cluster.members.map((member) => member.heal())),
    leftOvers: (queues) => presentOn(store, cluster, queues),
    resource: (name) => (store === 'etcd' ? name : `/${name}`),
  };
}
