import type { Cluster } from '@queuelock/harness/clusters';
import { until } from '@queuelock/harness/services/until';
import type { Experiment } from './experiment.ts';
import { presentOn } from './leftovers.ts';

const MAX_WAIT_MS = 10_000;

/** Resolves with the keys of the entries of a queue, read from the servers. */
export async function entriesIn({ store, cluster }: Experiment, queue: string): Promise<readonly string[]> {
  const below = store === 'etcd' ? `${queue}/` : `/${queue}/`;
  const present = await presentOn(store, cluster, [queue]);
  return present.flatMap(({ kind, what }) => (kind === 'key' && what.startsWith(below) ? [what] : []));
}

/** Resolves with the keys of the entries of a queue as soon as the queue has `count` entries. */
export function untilEntries(
  experiment: Experiment,
  queue: string,
  count: number,
): Promise<readonly string[]> {
  return untilCount(`${count} entries in ${queue}`, count, () => entriesIn(experiment, queue));
}

/** Resolves as soon as etcd has `count` leases, of any clients. */
export async function untilLeases({ cluster }: Experiment, count: number): Promise<void> {
  await untilCount(`${count} leases`, count, () => leasesOn(cluster));
}

export async function leasesOn(cluster: Cluster): Promise<readonly string[]> {
  const present = await presentOn('etcd', cluster, []);
  return present.flatMap(({ kind, what }) => (kind === 'lease' ? [what] : []));
}

function untilCount(
  what: string,
  count: number,
  read: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  return until(
    async () => {
      const found = await read();
      if (found.length === count) return found;
      throw new Error(`there are ${found.length}: ${found.join(', ')}`);
    },
    { what, withinMs: MAX_WAIT_MS },
  );
}
