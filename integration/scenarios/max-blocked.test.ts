import { consul } from '@queuelock/consul';
import { createLockClient, type Backend } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { memory } from '@queuelock/memory';
import { mysql } from '@queuelock/mysql';
import { postgres } from '@queuelock/postgres';
import { redis } from '@queuelock/redis';
import { sqlite } from '@queuelock/sqlite';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { Etcd3 } from 'etcd3';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { createClient } from 'redis';

/** Creates a client with heartbeats from a thread, without contacting a server. Returns the message of its error, if any. */
function refusal(backend: Backend): string | undefined {
  try {
    void createLockClient(backend, { maxBlockedMs: 30_000 }).close();
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    void backend.close();
  }
}

const auth = (): { username: string; password: string } => ({ username: 'a', password: 'secret' });
const tls = (): object => ({});

describe('the option maxBlockedMs on all stores', () => {
  const accepted: readonly (readonly [string, () => Backend])[] = [
    ['etcd, with functions for credentials', () => etcd({ hosts: ['h:1', 'h:2'], auth, credentials: tls })],
    ['etcd, with npm etcd3', () => etcd({ hosts: 'h:1', transport: 'etcd3' })],
    ['Redis, with functions for credentials', () => redis({ url: 'rediss://h', auth, tls })],
    ['Redis, with single keys', () => redis({ url: 'redis://h', singleKey: (queue) => queue })],
    ['PostgreSQL, with functions for credentials', () => postgres({ url: 'postgres://h/d', auth, tls })],
    ['MySQL, with functions for credentials', () => mysql({ url: 'mysql://h/d', auth, tls })],
    ['Consul', () => consul({ hosts: ['h:1', 'h:2'], token: 'secret', tls: {} })],
  ];
  for (const [store, make] of accepted)
    it(`is accepted on ${store}`, () => {
      expect(refusal(make())).to.equal(undefined);
    });

  const refused: readonly (readonly [string, () => Backend, RegExp])[] = [
    [
      'etcd with a client of npm etcd3',
      () => etcd({ client: new Etcd3({ hosts: '127.0.0.1:1' }) }),
      /client beside maxBlockedMs is left out.*: set hosts/,
    ],
    [
      'Redis with a client of npm redis',
      () => redis({ client: createClient() }),
      /client beside maxBlockedMs is left out.*: set url instead/,
    ],
    [
      'PostgreSQL with a pool',
      () => postgres({ pool: new pg.Pool() }),
      /pool beside maxBlockedMs is left out.*: set url instead/,
    ],
    [
      'PostgreSQL with advisory locks',
      () => postgres({ url: 'postgres://h/d', advisoryKey: () => 1n }),
      /advisoryKey beside maxBlockedMs is left out: an advisory lock lasts as long as a connection/,
    ],
    [
      'MySQL with a pool',
      () => mysql({ pool: createPool({ database: 'd' }) }),
      /pool beside maxBlockedMs is left out.*: set url instead/,
    ],
    [
      'ZooKeeper',
      () => zookeeper({ hosts: ['127.0.0.1:1'] }),
      /maxBlockedMs is 0 on zookeeper: a session of ZooKeeper belongs to one connection.*set ttlMs above/,
    ],
    [
      'SQLite',
      () => sqlite({ file: 'locks.db' }),
      /maxBlockedMs is 0 on sqlite: set ttlMs above the longest/,
    ],
    ['the store in memory', () => memory(), /maxBlockedMs is 0 on memory: only the main thread sends/],
  ];
  for (const [store, make, message] of refused)
    it(`is refused on ${store}, with an error that states what to do instead`, () => {
      expect(refusal(make()))
        .to.match(/INVALID_ARGUMENT/)
        .and.to.match(message)
        .and.not.match(/secret/);
    });
});
