// Faults of a real server and of the network to it, while clients over the transport socket contend for locks.
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { isQueueLockError } from '@queuelock/core/backend';
import { etcd } from '@queuelock/etcd';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from './clients.ts';
import { OwnServer } from './own-server.ts';

const NAMES = ['a', 'b'];
const CLIENTS = 4;
const RUNS = 5;

/** Clients that acquire and release the same locks repeatedly, until a test stops them. */
class Contenders {
  /** How many calls of `run` each client has finished so far, by the index of the client. */
  readonly runs: number[] = Array<number>(CLIENTS).fill(0);
  failures = 0;
  readonly #clients: LockClient[];
  readonly #holds = new Map<string, Set<Ownership>>();
  readonly #loops: Promise<void>[];
  #isOver = false;

  constructor(hosts: string) {
    const client = (): LockClient =>
      createLockClient(etcd({ hosts, transport: 'socket', requestTimeoutMs: 1_000 }), { ttlMs: 3_000 });
    this.#clients = Array.from({ length: CLIENTS }, client);
    this.#loops = this.#clients.map((one, n) => this.#contend(one, n));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async untilEachRan(times: number): Promise<void> {
    const goals = this.runs.map((runs) => runs + times);
    for (const [n, goal] of goals.entries())
      await eventually(`client ${n} holds again`, () => (this.runs[n] ?? 0) >= goal || this.#isOver);
  }

  async #contend(client: LockClient, n: number): Promise<void> {
    for (let turn = n; !this.#isOver; turn += 1) {
      const name = NAMES[turn % NAMES.length]!;
      try {
        await client.run(name, (ownership) => this.#hold(name, ownership), { timeoutMs: 10_000 });
        this.runs[n]! += 1;
      } catch (error) {
        if (!isQueueLockError(error)) throw error;
        this.failures += 1;
      }
    }
  }

  async #hold(name: string, ownership: Ownership): Promise<void> {
    const holds = this.#holds.get(name) ?? new Set();
    this.#holds.set(name, holds);
    holds.add(ownership);
    for (let i = 0; i < 3; i += 1) {
      await nextTurn();
      const held = [...holds].filter((one) => one.held);
      if (held.length > 1) throw new Error(`${held.length} clients hold ${name}`);
    }
    holds.delete(ownership);
  }
}

describe('clients over the transport socket', function () {
  this.timeout(180_000);
  const own = new OwnServer();
  let proxy: TcpProxy;
  let contenders: Contenders;

  beforeEach(async () => {
    proxy = await startProxy(own.server.endpoint);
    contenders = new Contenders(proxy.endpoint);
    await contenders.untilEachRan(1);
  });
  afterEach(async () => {
    await proxy.heal();
    await contenders.stop();
    await proxy.stop();
  });

  const untilTheyFail = (): Promise<void> => eventually('a client has failed', () => contenders.failures > 0);

  const faults: readonly (readonly [what: string, fault: () => Promise<void>])[] = [
    [
      'the server was killed and restarted',
      async () => {
        await own.server.kill();
        await untilTheyFail();
        await own.server.restart();
      },
    ],
    [
      'the server was frozen for longer than their requests wait',
      async () => {
        await own.server.freeze();
        await untilTheyFail();
        await own.server.thaw();
      },
    ],
    [
      'connections were cut again and again',
      async () => {
        for (let i = 0; i < 30; i += 1) {
          proxy.cut();
          await eventually('a connection is there', () => proxy.connections.length > 0);
        }
      },
    ],
    [
      'connections were cut and refused',
      async () => {
        proxy.refuse();
        proxy.cut();
        await untilTheyFail();
      },
    ],
    [
      'connections were half open: nothing came back',
      async () => {
        proxy.toClient.blackhole();
        await untilTheyFail();
      },
    ],
    [
      'connections were half open: nothing arrived at the server',
      async () => {
        proxy.toServer.blackhole();
        await untilTheyFail();
      },
    ],
    [
      'all data was held back',
      async () => {
        proxy.toServer.hold();
        proxy.toClient.hold();
        await untilTheyFail();
      },
    ],
    [
      'replies were lost',
      async () => {
        for (let i = 0; i < 3; i += 1) await proxy.loseNextReply().lost;
      },
    ],
    [
      'data arrived slowly, in small parts',
      async () => {
        proxy.toClient.limit(8_000);
        await contenders.untilEachRan(1);
      },
    ],
  ];
  for (const [what, fault] of faults)
    it(`never hold a lock together, and hold again after ${what}`, async () => {
      await fault();
      await proxy.heal();
      await contenders.untilEachRan(RUNS);
      expect(proxy.accepted, 'connections').to.be.lessThan(400);
    });
});
