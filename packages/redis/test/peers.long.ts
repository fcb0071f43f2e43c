import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createLockClient } from '@queuelock/core';
import { Clients } from './clients.ts';
import { mutex, redlock } from './peers.ts';

const KEY = 'reports';
const ROUNDS = 20;

/** Counts the clients that hold at the same time, and records the maximum. */
class Room {
  most = 0;
  #inside = 0;

  async visit(): Promise<void> {
    this.#inside += 1;
    this.most = Math.max(this.most, this.#inside);
    await new Promise(setImmediate);
    this.#inside -= 1;
  }
}

describe('services that migrate one by one to queuelock on Redis', () => {
  const clients = new Clients();
  const connections: Redis[] = [];

  function connection(): Redis {
    const [host = '', port] = clients.server.endpoint.split(':');
    const made = new Redis({ host, port: Number(port) });
    connections.push(made);
    return made;
  }

  after(() => {
    for (const made of connections) made.disconnect();
  });

  const visits: Readonly<Record<string, (room: Room) => () => Promise<unknown>>> = {
    'npm redlock': (room) => {
      const lock = redlock(connection(), { retryCount: -1, retryDelay: 10 });
      return async () => {
        const held = await lock.acquire([KEY], 10_000);
        await room.visit();
        await held.release();
      };
    },
    'the mutex of npm redis-semaphore': (room) => {
      const lock = mutex(connection(), KEY);
      return async () => {
        await lock.acquire();
        await room.visit();
        await lock.release();
      };
    },
  };

  for (const [name, visit] of Object.entries(visits)) {
    // redis-semaphore adds a prefix of its own to the key.
    const key = name === 'npm redlock' ? KEY : `mutex:${KEY}`;

    it(`exclude the services that still use ${name}, by the single key`, async () => {
      const room = new Room();
      const backends = [1, 2].map(() => clients.connect({ singleKey: () => key }));
      const locks = backends.map((backend) => createLockClient(backend));
      const ours = locks.map((client) => () => client.run(KEY, () => room.visit()));
      const theirs = [visit(room), visit(room)];
      await Promise.all(
        [...ours, ...theirs].map(async (once) => {
          for (let round = 0; round < ROUNDS; round += 1) await once();
        }),
      );
      expect(room.most).to.equal(1);
      expect(await clients.operator.redis.exists(key)).to.equal(0);
      await Promise.all(locks.map((client) => client.close()));
    }).timeout(60_000);
  }
});
