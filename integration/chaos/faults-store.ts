import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '@queuelock/harness/clusters';
import { EtcdOperator } from './etcd-operator.ts';
import type { StoreKind } from './faults-menu.ts';
import type { Fault } from './schedule.ts';
import type { Undo } from './fault-stage.ts';

const COMPACT_EVERY_MS = 100;

interface Subject {
  readonly cluster: Cluster;
  readonly fault: Fault;
}

/** Functions that begin a fault of the whole store. Each resolves with the function that ends the fault. */
export const STORE_ACTIONS: Readonly<Record<StoreKind, (subject: Subject) => Promise<Undo>>> = {
  'majority lost': async ({ cluster, fault }) => {
    const stays = fault.number % cluster.members.length;
    const lost = cluster.members.filter((_, index) => index !== stays);
    await Promise.all(lost.map((member) => member.kill()));
    return async () => {
      await Promise.all(lost.map((member) => member.start()));
    };
  },
  'rolling restart': async ({ cluster, fault }) => {
    for (const member of cluster.members) {
      await member.kill();
      await member.start();
      await cluster.ready();
      await pause(fault.durationMs / cluster.members.length);
    }
    return async () => undefined;
  },
  compaction: async ({ cluster }) => {
    const stop = new AbortController();
    const compacted = compactUntil(stop.signal, cluster.endpoints[0]!);
    return async () => {
      stop.abort();
      await compacted;
      for (const endpoint of cluster.endpoints)
        await asOperator(endpoint, (operator) => operator.defragment());
    };
  },
  'no space': async ({ cluster }) => {
    const endpoint = cluster.endpoints[0]!;
    await asOperator(endpoint, (operator) => operator.outOfSpace(true));
    return () => asOperator(endpoint, (operator) => operator.outOfSpace(false));
  },
};

/** Compacts the history of etcd to the newest revision again and again, until the signal aborts. */
function compactUntil(signal: AbortSignal, endpoint: string): Promise<void> {
  return asOperator(endpoint, async (operator) => {
    while (!signal.aborted) await Promise.all([operator.compact(), pause(COMPACT_EVERY_MS)]);
  });
}

async function asOperator(endpoint: string, act: (operator: EtcdOperator) => Promise<void>): Promise<void> {
  const operator = new EtcdOperator(endpoint);
  try {
    await act(operator);
  } finally {
    operator.close();
  }
}
