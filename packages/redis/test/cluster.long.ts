import { expect } from 'chai';
import { Redis } from 'ioredis';
import { redis } from '@queuelock/redis';
import { startRedis } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { admitted, signal, wish } from '@queuelock/harness/wishes';

const WITHIN_MS = 30_000;

function connected({ endpoint }: ProcessService): Redis {
  const [host = '', port] = endpoint.split(':');
  return new Redis({ host, port: Number(port) });
}

describe('a Redis Cluster', () => {
  it('is reached by the address of any node, with steps and with what is heard', async () => {
    const buses = await pickPorts(2);
    const nodes = await Promise.all(
      buses.map((bus) =>
        startRedis({ way: 'process', settings: { 'cluster-enabled': 'yes', 'cluster-port': String(bus) } }),
      ),
    );
    const [one, other] = nodes.map(connected);
    await one!.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    const [host = '', port = ''] = nodes[1]!.endpoint.split(':');
    await one!.call('CLUSTER', 'MEET', host, port, String(buses[1]));
    const isUp = async (): Promise<void> => {
      for (const node of [one!, other!]) {
        const said = String(await node.call('CLUSTER', 'INFO'));
        expect(said).to.contain('cluster_state:ok').and.to.contain('cluster_known_nodes:2');
        expect(said).to.contain('cluster_slots_assigned:16384');
      }
    };
    await until(isUp, { what: 'a cluster', withinMs: WITHIN_MS });
    // The second has no slot at all.
    const backends = nodes.map(({ endpoint }) => redis({ url: `redis://${endpoint}` }));
    const [holder, waiter] = await Promise.all(
      backends.map(async (backend) => {
        for (;;) {
          const session = await backend.open(10_000, signal).catch(() => undefined);
          if (session) return session;
        }
      }),
    );
    const held = wish();
    await holder!.enqueue(held);
    const turn = admitted(await waiter!.enqueue(wish()));
    await holder!.remove('jobs', held.id);
    await turn;
    await Promise.all([holder!.close(), waiter!.close()]);
    await Promise.all(backends.map((backend) => backend.close()));
    for (const node of [one!, other!]) node.disconnect();
    await Promise.all(nodes.map((node) => node.stop()));
  }).timeout(WITHIN_MS * 2);
});
