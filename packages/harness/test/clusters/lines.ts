import { Agent } from 'node:http';
import { base64, callEtcd } from '../../src/services/etcd-gateway.ts';
import { ZooKeeperWire } from '../../src/clusters/zookeeper-wire.ts';

/** A connection of a test to one member of a cluster. It stays open during a fault. */
export interface Line {
  /** Writes a value to the member. Resolves when the store has committed it. */
  put(key: string, value: string): Promise<void>;
  close(): void;
}

/**
 * A minimal client for tests. It shows whether a member accepts writes, and whether it has the data that
 * other members have written.
 */
export interface LineKind {
  /** Opens a connection to a member. Resolves when the connection works. */
  open(endpoint: string): Promise<Line>;
  /**
   * Reads the value of a key through a member, as a majority of the members has it. Rejects when there is no
   * such key.
   */
  get(endpoint: string, key: string): Promise<string>;
  /** Bytes that a test sends over TCP to find out whether a member responds. */
  readonly greeting: string;
}

export const etcdLines: LineKind = {
  async open(endpoint) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const request = (call: string, body: object): Promise<unknown> =>
      callEtcd({ endpoint, call, agent }, body);
    await request('kv/range', { key: base64('any') });
    return {
      put: async (key, value) => {
        await request('kv/put', { key: base64(key), value: base64(value) });
      },
      close: () => agent.destroy(),
    };
  },
  async get(endpoint, key) {
    const requested = callEtcd({ endpoint, call: 'kv/range', agent: false }, { key: base64(key) });
    const { kvs } = (await requested) as { kvs?: { value: string }[] };
    if (kvs === undefined) throw new Error(`etcd on ${endpoint} has no ${key}`);
    return Buffer.from(kvs[0]!.value, 'base64').toString();
  },
  greeting: 'GET /version HTTP/1.0\r\n\r\n',
};

export const zooKeeperLines: LineKind = {
  async open(endpoint) {
    const wire = await ZooKeeperWire.open(endpoint);
    return { put: (key, value) => wire.create(`/${key}`, value), close: () => wire.close() };
  },
  get: (endpoint, key) => ZooKeeperWire.during(endpoint, (wire) => wire.get(`/${key}`)),
  greeting: 'ruok',
};
