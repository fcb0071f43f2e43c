// The tests and servers of other packages are imported by path, because no package exports them.
/* eslint-disable no-restricted-imports */
import { Operator as ConsulOperator } from '../../packages/consul/test/operator.ts';
import { OwnServer as MySqlServer } from '../../packages/mysql/test/servers.ts';
import { OwnServer as PostgresServer } from '../../packages/postgres/test/servers.ts';
import { recipeFacts } from '../../packages/recipes/test/facts.ts';
import { throwingCallbackFacts } from '../../packages/recipes/test/facts/throwing-callbacks.ts';
import { describeRecipes, type Store } from '../../packages/recipes/test/frame.ts';
import { Operator as RedisOperator } from '../../packages/redis/test/operator.ts';
/* eslint-enable no-restricted-imports */
import type { Backend } from '@queuelock/core';
import { consul } from '@queuelock/consul';
import { mysql } from '@queuelock/mysql';
import { postgres } from '@queuelock/postgres';
import { redis } from '@queuelock/redis';
import { filter, firstValueFrom } from 'rxjs';
import { startProxy } from '@queuelock/harness/faults';
import { startConsul, startRedis } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { lineThrough } from './sites.ts';

const TTL_MS = 2_000;
/**
 * Longest delay in milliseconds, after the TTL, until the entries of a dead session are removed. A waiter far
 * from the head of the queue reads less often, and the machine may be busy.
 */
const EXPIRY_MS = 4_000;
const PREFIX = 'recipes';

const facts = [...recipeFacts, { recipe: 'callbacks that throw', facts: throwingCallbackFacts }];

interface Database {
  readonly name: string;
  readonly endpoint: string;
  readonly connect: (endpoint: string) => Backend;
  readonly leftovers: Store['leftovers'];
}

function storeOf({ name, endpoint, connect, leftovers }: Database): Store {
  return {
    ...{ name, ttlMs: TTL_MS, expiryMs: EXPIRY_MS },
    connect: () => connect(endpoint),
    // Joins the queue before it lists what is left in the store, because entries of dead clients are removed
    // when another client joins or reads.
    leftovers: async (queue) => {
      await untilEmpty(connect(endpoint), queue);
      return leftovers(queue);
    },
    line: async () => lineThrough(await startProxy(endpoint), connect),
  };
}

async function untilEmpty(backend: Backend, queue: string): Promise<void> {
  try {
    await firstValueFrom(backend.observe(queue).pipe(filter((entries) => entries.length === 0)), {
      defaultValue: [],
    });
  } finally {
    await backend.close();
  }
}

describe('recipes on a separate Redis server', () => {
  let server: ProcessService;
  let operator: RedisOperator;
  before(async () => {
    server = await startRedis({ way: 'process' });
    operator = await RedisOperator.connect(server.endpoint, PREFIX);
  });
  after(async () => {
    await operator.close();
    await server.stop();
  });

  const open = async (): Promise<Store> =>
    storeOf({
      name: 'redis',
      endpoint: server.endpoint,
      connect: (endpoint) => redis({ url: `redis://${endpoint}`, prefix: PREFIX }),
      leftovers: (queue) => operator.entries(queue),
    });
  describeRecipes('redis', open, facts);
});

describe('recipes on a separate PostgreSQL server', () => {
  const own = new PostgresServer();
  const open = async (): Promise<Store> =>
    storeOf({
      name: 'postgres',
      endpoint: own.server.endpoint,
      connect: (endpoint) => postgres({ url: `postgres://postgres@${endpoint}/postgres`, connections: 2 }),
      leftovers: async (queue) =>
        (await own.column('select ord from queuelock.entry where queue = $1', queue)).map(String),
    });
  describeRecipes('postgres', open, facts);
});

describe('recipes on a separate MariaDB server', () => {
  const own = new MySqlServer();
  const open = async (): Promise<Store> =>
    storeOf({
      name: 'mysql',
      endpoint: own.server.endpoint,
      connect: (endpoint) => mysql({ url: own.url.replace(own.server.endpoint, endpoint), connections: 2 }),
      leftovers: async (queue) => (await own.operator.entries(queue)).map((entry) => JSON.stringify(entry)),
    });
  describeRecipes('mysql', open, facts);
});

describe('recipes on a Consul of their own', () => {
  let server: ProcessService;
  before(async () => {
    server = await startConsul({ way: 'process' });
  });
  after(() => server.stop());

  const open = async (): Promise<Store> =>
    storeOf({
      name: 'consul',
      endpoint: server.endpoint,
      connect: (endpoint) => consul({ hosts: endpoint, prefix: `${PREFIX}/`, minTtlMs: 100 }),
      leftovers: (queue) =>
        new ConsulOperator(server.endpoint).keysUnder(`${PREFIX}/queues/${encodeURIComponent(queue)}/`),
    });
  describeRecipes('consul', open, recipeFacts);
});
