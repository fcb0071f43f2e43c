import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { compileCurator } from '../interop/curator/curator.ts';
import { contendWithEtcdctl } from '../interop/etcdctl.ts';

/** Contenders of another make, for the same queue. */
export interface Foreigners {
  /** Lets so many of them join `name` so many times each; answers with their history. */
  contend(options: {
    readonly endpoint: string;
    readonly name: string;
    readonly contenders: number;
    readonly rounds: number;
  }): Promise<HistoryEvent[]>;
  dismiss(): Promise<void>;
}

/** By the store's name: who they are, and how to get them; rejects with NotHere where they cannot be had. */
export const foreigners: Readonly<Record<string, { who: string; summon: () => Promise<Foreigners> }>> = {
  etcd: {
    who: '`etcdctl lock`',
    summon: () =>
      Promise.resolve({
        async contend({ endpoint, name, contenders, rounds }) {
          const loops = Array.from({ length: contenders }, (_, i) =>
            contendWithEtcdctl({ endpoint, name, id: `etcdctl-${i + 1}`, rounds }),
          );
          return (await Promise.all(loops)).flat();
        },
        dismiss: () => Promise.resolve(),
      }),
  },
  ZooKeeper: {
    who: "Curator's InterProcessMutex",
    async summon() {
      const curator = await compileCurator();
      return { contend: (options) => curator.contend(options), dismiss: () => curator.remove() };
    },
  },
};
