import type { Cluster } from '@queuelock/harness/clusters';
import { Experiment } from './experiment.ts';
import { timingOf } from './profiles.ts';

/**
 * Starts an experiment on an etcd cluster that no other test uses. It is for faults that would disturb tests
 * on the shared cluster.
 */
export async function experimentOn(cluster: Cluster, workers: number): Promise<Experiment> {
  const timing = timingOf('etcd', 'fast', false);
  const experiment = new Experiment(cluster, { store: 'etcd', profile: 'fast', timing });
  await experiment.addWorkers(workers);
  return experiment;
}
