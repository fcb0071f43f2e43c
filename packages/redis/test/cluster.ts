import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startRedis } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';

/** A node of a cluster, and a connection of an operator to it. */
export interface Node {
  readonly server: ProcessService;
  readonly host: string;
  readonly port: string;
  readonly id: string;
  readonly operator: Redis;
}

/** A cluster of two primaries. At the start, `first` has all hash slots. */
export interface Cluster {
  readonly first: Node;
  readonly second: Node;
  readonly stop: () => Promise<void>;
}

/** Starts a cluster. Resolves when both nodes know each other and the owner of every hash slot. */
export async function startCluster(withinMs: number): Promise<Cluster> {
  const buses = await pickPorts(2);
  const [first, second] = await Promise.all(buses.map((bus) => startNode(bus)));
  await first!.operator.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await first!.operator.call('CLUSTER', 'MEET', second!.host, second!.port, String(buses[1]));
  const nodes = [first!, second!] as const;
  const isUp = async (): Promise<void> => {
    for (const { operator } of nodes) {
      const output = String(await operator.call('CLUSTER', 'INFO'));
      expect(output).to.contain('cluster_state:ok').and.to.contain('cluster_known_nodes:2');
      expect(output).to.contain('cluster_slots_assigned:16384');
    }
  };
  await until(isUp, { what: 'a cluster', withinMs });
  const stop = async (): Promise<void> => {
    for (const { operator } of nodes) operator.disconnect();
    await Promise.all(nodes.map(({ server }) => server.stop()));
  };
  return { first: nodes[0], second: nodes[1], stop };
}

async function startNode(bus: number): Promise<Node> {
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': String(bus),
    'enable-debug-command': 'yes',
  };
  const server = await startRedis({ way: 'process', settings });
  const [host = '', port = ''] = server.endpoint.split(':');
  const operator = new Redis({ host, port: Number(port) });
  return { server, host, port, operator, id: String(await operator.call('CLUSTER', 'MYID')) };
}

/** Migrates one hash slot by the commands that an operator sends. */
export class SlotMigration {
  readonly #from: Node;
  readonly #to: Node;
  readonly #slot: string;

  private constructor(from: Node, to: Node, slot: string) {
    this.#from = from;
    this.#to = to;
    this.#slot = slot;
  }

  /** Begins to migrate the hash slot of the key `key` from the first node to the second. No key moves yet. */
  static async begin({ first, second }: Cluster, key: string): Promise<SlotMigration> {
    const slot = String(await first.operator.call('CLUSTER', 'KEYSLOT', key));
    await second.operator.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', first.id);
    await first.operator.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', second.id);
    return new SlotMigration(first, second, slot);
  }

  /** Returns the keys of the migrating hash slot that have not moved to the second node yet. */
  async keys(): Promise<readonly string[]> {
    return (await this.#from.operator.call('CLUSTER', 'GETKEYSINSLOT', this.#slot, '1000')) as string[];
  }

  async move(keys: readonly string[]): Promise<void> {
    const { host, port } = this.#to;
    await this.#from.operator.call('MIGRATE', host, port, '', '0', '5000', 'KEYS', ...keys);
  }

  /** Moves the remaining keys of the hash slot to the second node, and then assigns the hash slot to it. */
  async end(): Promise<void> {
    const left = await this.keys();
    if (left.length > 0) await this.move(left);
    for (const { operator } of [this.#to, this.#from])
      await operator.call('CLUSTER', 'SETSLOT', this.#slot, 'NODE', this.#to.id);
  }
}
