import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { compileCurator } from '../interop/curator/curator.ts';
import { contendWithEtcdctl } from '../interop/etcdctl.ts';

/** Clients of another library or tool that use the same queue as queuelock. */
export interface Foreigners {
  /**
   * Lets several clients of the other library or tool join the queue `name` repeatedly. Resolves with the
   * events of their claims.
   */
  contend(options: {
    readonly endpoint: string;
    readonly name: string;
    readonly contenders: number;
    readonly rounds: number;
  }): Promise<HistoryEvent[]>;
  dismiss(): Promise<void>;
}

/**
 * For each store, by its name: a description of clients other than queuelock, and a function that prepares
 * them. The function rejects with `NotHere` if they are not available.
 */
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
