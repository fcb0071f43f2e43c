import type { Cluster } from '@queuelock/harness/clusters';
import { Experiment } from './experiment.ts';
import { timingOf } from './profiles.ts';

/** An experiment on a cluster of etcd that nobody else uses: for what is done to a cluster that others could not live with. */
export async function experimentOn(cluster: Cluster, workers: number): Promise<Experiment> {
  const timing = timingOf('etcd', 'fast', false);
  const experiment = new Experiment(cluster, { store: 'etcd', profile: 'fast', timing });
  await experiment.addWorkers(workers);
  return experiment;
}
