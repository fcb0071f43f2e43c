import { callGateway } from '@queuelock/harness/services/plain-clients';
import type { Site } from './store.ts';

/** Compacts all history of an etcd server. */
export async function compact({ endpoint }: Pick<Site, 'endpoint'>): Promise<void> {
  const { header } = (await callGateway(endpoint, 'kv/range', { key: 'AA==' })) as {
    header: { revision: string };
  };
  // Ignores etcd's error for a compaction without new revisions.
  await callGateway(endpoint, 'kv/compaction', { revision: header.revision }).catch(() => undefined);
}
