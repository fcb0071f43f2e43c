import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { splitEndpoint } from '../services/endpoint.ts';
import { ZooKeeperWire } from './zookeeper-wire.ts';

/** One connection to one member that stays open over a fault. */
export interface Line {
  /** Resolves when the store has it for good. */
  put(key: string, value: string): Promise<void>;
  close(): void;
}

/** The least that shows whether a member takes writes and has those of others. */
export interface LineKind {
  /** Resolves when the connection works. */
  open(endpoint: string): Promise<Line>;
  /** What a majority agrees on, asked through this member. Rejects when there is no such key. */
  get(endpoint: string, key: string): Promise<string>;
  /** Bytes that any member that is up answers to, over TCP. */
  readonly greeting: string;
}

const base64 = (value: string): string => Buffer.from(value).toString('base64');

export const etcdLines: LineKind = {
  async open(endpoint) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (call: string, body: object): Promise<unknown> => askEtcd({ endpoint, call, agent }, body);
    await ask('kv/range', { key: base64('any') });
    return {
      put: async (key, value) => {
        await ask('kv/put', { key: base64(key), value: base64(value) });
      },
      close: () => agent.destroy(),
    };
  },
  async get(endpoint, key) {
    const asked = askEtcd({ endpoint, call: 'kv/range', agent: false }, { key: base64(key) });
    const { kvs } = (await asked) as { kvs?: { value: string }[] };
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
  async get(endpoint, key) {
    const wire = await ZooKeeperWire.open(endpoint);
    try {
      return await wire.get(`/${key}`);
    } finally {
      wire.close();
    }
  },
  greeting: 'ruok',
};

interface Asked {
  readonly endpoint: string;
  readonly call: string;
  readonly agent: Agent | false;
}

async function askEtcd({ endpoint, call, agent }: Asked, body: object): Promise<unknown> {
  const options = { ...splitEndpoint(endpoint), agent, method: 'POST', path: `/v3/${call}` };
  const answer = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request(options, (response) => {
      text(response).then((said) => resolve({ status: response.statusCode, body: said }), reject);
    });
    asked.once('error', reject).end(JSON.stringify(body));
  });
  if (answer.status !== 200) throw new Error(`etcd on ${endpoint} answers ${answer.body}`);
  return JSON.parse(answer.body);
}
