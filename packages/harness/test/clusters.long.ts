import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import {
  FaultAbsent,
  recordRanAgainstCluster,
  startEtcdCluster,
  startZooKeeperCluster,
  type Cluster,
  type ClusterClient,
  type ClusterOptions,
  type Member,
} from '../src/clusters.ts';
import { etcdLines, zooKeeperLines, type Line, type LineKind } from './clusters/lines.ts';
import {
  deviceTo,
  namespacesInUse,
  runs,
  sharedTraces,
  stateOf,
  tracesOf,
} from '../src/clusters/machine-facts.ts';
import { splitEndpoint } from '../src/services/endpoint.ts';
import { isAlive } from '../src/services/process-facts.ts';
import { NotHere } from '../src/services/service.ts';
import { until } from '../src/services/until.ts';

interface Kind {
  readonly name: string;
  readonly lines: LineKind;
  readonly start: (options: ClusterOptions) => Promise<Cluster>;
}

const ETCD: Kind = {
  name: 'etcd',
  lines: etcdLines,
  start: (options) =>
    startEtcdCluster({ ...options, flags: { 'heartbeat-interval': 50, 'election-timeout': 500 } }),
};
const ZOOKEEPER: Kind = {
  name: 'ZooKeeper',
  lines: zooKeeperLines,
  start: (options) => startZooKeeperCluster({ ...options, settings: { tickTime: 300, syncLimit: 4 } }),
};

const GRACE_MS = 400;

/** Limit in milliseconds for a client's request to a member of the cluster. */
const MAX_WAIT_MS = 15_000;
/**
 * Number of measurements of a delay. The shortest one counts, because other processes may prolong single
 * measurements.
 */
const TIMES = 3;

/**
 * Source code of a program that connects to a member, and prints whether the member responds, refuses the
 * connection or is silent.
 */
const CALLER = `
  const [host, port, greeting, maxWaitMs] = process.argv.slice(1);
  const say = (what) => { console.log(what); process.exit(); };
  const socket = require('node:net').connect({ host, port });
  socket.once('connect', () => socket.write(greeting));
  socket.once('data', () => say('answers'));
  socket.once('error', () => say('refuses'));
  setTimeout(say, Number(maxWaitMs), 'is silent');
`;

for (const { name, lines, start } of [ETCD, ZOOKEEPER]) {
  for (const network of ['namespaces', 'proxies'] as const) {
    describe(`three members of a cluster of ${name}, network: ${network}`, () => {
      const opened: Line[] = [];
      let cluster: Cluster;
      let keyCount = 0;
      let childrenBefore: readonly number[] = [];

      before(async function () {
        if (process.platform === 'linux') childrenBefore = tracesOf(process.pid).pids;
        try {
          cluster = await start(network === 'namespaces' ? { network, diskMiB: 200 } : { network });
        } catch (error) {
          if (!(error instanceof NotHere)) throw error;
          this['skipReason'] = error.message;
          this.skip();
        }
        recordRanAgainstCluster('clusters for tests', cluster);
      });

      beforeEach(() => cluster.recover());

      afterEach(() => {
        for (const line of opened.splice(0)) line.close();
      });

      // The hook also runs when the start of the cluster has failed. Then `cluster` is undefined.
      after(() => (cluster as Cluster | undefined)?.stop());

      const newKey = (): string => `key-${(keyCount += 1)}`;

      async function openLine({ endpoint }: Member): Promise<Line> {
        const line = await lines.open(endpoint);
        opened.push(line);
        return line;
      }

      /** Writes a new key to a member, through a new connection. Resolves with the key. */
      async function write(member: Member): Promise<string> {
        const key = newKey();
        await (await openLine(member)).put(key, key);
        return key;
      }

      async function sees(member: Member, key: string): Promise<void> {
        await until(async () => expect(await lines.get(member.endpoint, key)).to.equal(key), {
          what: `${member.node} has ${key}`,
          withinMs: 10_000,
        });
      }

      async function becomes(member: Member, role: 'leader' | 'follower' | 'none'): Promise<void> {
        await until(async () => expect(await member.role()).to.equal(role), {
          what: `${member.node} is ${role}`,
          withinMs: 15_000,
        });
      }

      async function follower(): Promise<Member> {
        return cluster.others(await cluster.leader())[0]!;
      }

      it('agree on one leader and on the written data', async () => {
        const leader = await cluster.leader();
        const roles = await Promise.all(cluster.members.map((member) => member.role()));
        expect(roles.sort()).to.deep.equal(['follower', 'follower', 'leader']);
        expect(new Set(cluster.endpoints).size).to.equal(3);
        const key = await write(leader);
        for (const member of cluster.members) await sees(member, key);
      });

      it('elect another leader when their leader is killed, and accept it back with its data', async () => {
        const old = await cluster.leader();
        const before = await write(old);
        await old.kill();
        expect(old.running).to.equal(false);
        const key = await write(await cluster.leader({ otherThan: old }));
        await old.restart();
        await sees(old, before);
        await sees(old, key);
      });

      it('have their data after all of them crashed', async () => {
        const key = await write(await cluster.leader());
        await Promise.all(cluster.members.map((member) => member.kill()));
        await Promise.all(cluster.members.map((member) => member.start()));
        await cluster.ready();
        for (const member of cluster.members) await sees(member, key);
      });

      it('continue without a frozen member, which catches up when it is thawed', async () => {
        const frozen = await follower();
        await frozen.freeze();
        expect(await frozen.role().catch(() => 'no answer')).to.equal('no answer');
        const key = await write(await cluster.leader());
        await frozen.thaw();
        await sees(frozen, key);
      });

      it('do not acknowledge a write that a client sends to a leader that is cut off from the other members', async () => {
        const minority = await cluster.leader();
        const line = await openLine(minority);
        await minority.cut({ from: 'members' });
        const majority = await cluster.leader({ otherThan: minority });
        await becomes(minority, 'none');
        expect(await isAcknowledged(line.put(newKey(), 'lost'))).to.equal(false);
        const key = await write(majority);
        await minority.heal();
        await cluster.ready();
        await sees(minority, key);
      });

      it('elect another leader when no member receives data from the leader', async () => {
        const mute = await cluster.leader();
        await mute.cut({ from: 'members', direction: 'out' });
        const next = await cluster.leader({ otherThan: mute });
        const key = await write(next);
        await mute.heal();
        await sees(mute, key);
      });

      it('receive requests of a client while a cut loses the responses to that client', async () => {
        const member = await follower();
        const line = await openLine(member);
        const key = newKey();
        await member.cut({ from: 'clients', direction: 'out' });
        const put = line.put(key, key);
        await sees(await cluster.leader(), key);
        expect(await isAcknowledged(put)).to.equal(false);
        await member.heal();
        await put;
      });

      it('receive no requests while a cut loses the data that clients send', async () => {
        const member = await follower();
        const line = await openLine(member);
        const key = newKey();
        await member.cut({ from: 'clients', direction: 'in' });
        const put = line.put(key, key);
        expect(await isAcknowledged(put)).to.equal(false);
        const { endpoint } = await cluster.leader();
        expect(await lines.get(endpoint, key).catch(() => 'nothing')).to.equal('nothing');
        await member.heal();
        await put;
      });

      it('receive data more slowly when the rate of their links is limited', async () => {
        const slow = await follower();
        const line = await openLine(slow);
        const bytes = 'x'.repeat(30_000);
        const fastMs = await shortestOf(() => line.put(newKey(), bytes));
        await slow.slow({ bytesPerSecond: 100_000 });
        const slowMs = await timeOf(() => line.put(newKey(), bytes));
        // The data passes twice: from the client to the leader, and from the leader to the slow follower. At
        // each pass, the rate limit of tc(8) lets the first 10 kB through at once.
        expect(slowMs).to.be.greaterThan(300);
        expect(slowMs - fastMs).to.be.greaterThan(250);
        await slow.heal();
      });

      it('serve writes while one of them alternately freezes and runs for 200 ms each', async () => {
        const slow = await follower();
        await slow.slow({ duty: { frozenMs: 200, runningMs: 200 } });
        const { pid } = slow;
        for (const stopped of [true, false, true]) {
          await until(async () => expect(stateOf(pid) === 'T').to.equal(stopped), {
            what: `${slow.node} ${stopped ? 'stands still' : 'runs'}`,
            withinMs: 5_000,
          });
        }
        await write(slow);
        await slow.heal();
        await until(async () => expect(stateOf(pid)).to.not.equal('T'), {
          what: `${slow.node} runs`,
          withinMs: 1_000,
        });
      });

      it('reject a fault that this network does not support', async () => {
        const member = await follower();
        const attempts = {
          delay: () => member.slow({ delayMs: 10 }),
          loss: () => member.slow({ lossRatio: 0.05 }),
          disk: () => member.fillDisk().then(() => member.freeDisk()),
        };
        for (const [fault, attempt] of Object.entries(attempts)) {
          const why = cluster.absent.get(fault as keyof typeof attempts);
          const error = await attempt().catch((reason: unknown) => reason);
          if (why === undefined) expect(error).to.equal(undefined);
          else expect(error).to.be.instanceOf(FaultAbsent).with.property('message', `${fault}: ${why}`);
        }
      });

      if (network === 'proxies') {
        it('respond more slowly when their links have a delay', async () => {
          const member = await follower();
          await member.slow({ delayMs: 150 });
          const line = await openLine(member);
          // A write passes the slow link four times: from the client to the member, on to the leader, and
          // both ways back.
          const putMs = await shortestOf(() => line.put(newKey(), 'late'));
          expect(putMs).to.be.within(600, 1_400);
        });
      } else {
        it('lose packets on the links of one member', async () => {
          const member = await follower();
          const client = await cluster.addClient();
          await member.slow({ lossRatio: 0.05 });
          await sees(member, await write(await cluster.leader()));
          await member.slow({ lossRatio: 1 });
          expect(await howItResponds(client, member, GRACE_MS)).to.equal('is silent');
          expect(await howItResponds(client, await cluster.leader())).to.equal('answers');
          await client.stop();
        });

        it('go on without a member whose disk is full, and accept it back when there is space', async function () {
          const why = cluster.absent.get('disk');
          if (why !== undefined) {
            this['skipReason'] = why;
            this.skip();
          }
          const full = await cluster.leader();
          const line = await openLine(full);
          await full.fillDisk();
          await until(
            async () => {
              await isAcknowledged(line.put(newKey(), 'x'.repeat(100_000)));
              expect(await full.role().catch(() => 'no answer')).to.not.equal('leader');
            },
            { what: `${full.node} leads no more`, withinMs: 15_000 },
          );
          const key = await write(await cluster.leader({ otherThan: full }));
          await full.freeDisk();
          await full.restart();
          await sees(full, key);
        });
      }

      async function howItResponds(
        client: ClusterClient,
        member: Member,
        maxWaitMs = MAX_WAIT_MS,
      ): Promise<string> {
        const { host, port } = splitEndpoint(client.endpoints[cluster.members.indexOf(member)]!);
        const args = ['-e', CALLER, host, String(port), lines.greeting, String(maxWaitMs)];
        const child = await client.exec(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
        return (await text(child.stdout!)).trim();
      }

      it('can be cut off from one client, while another client still reaches them', async () => {
        const client = await cluster.addClient();
        const member = await follower();
        const line = await openLine(member);
        expect(await howItResponds(client, member)).to.equal('answers');
        await member.cut({ from: client });
        expect(await howItResponds(client, member, GRACE_MS)).to.equal('is silent');
        expect(await howItResponds(client, await cluster.leader())).to.equal('answers');
        await line.put(newKey(), 'as ever');
        await member.heal();
        expect(await howItResponds(client, member)).to.equal('answers');
        await client.stop();
      });

      it('break connections immediately when a cut resets them', async () => {
        const client = await cluster.addClient();
        const member = await follower();
        const socket = connect(splitEndpoint(member.endpoint));
        await once(socket, 'connect');
        const broken = new Promise((resolve) => socket.once('error', resolve));
        await member.cut({ from: 'clients', as: 'reset' });
        await broken;
        expect(await howItResponds(client, member)).to.equal('refuses');
        await client.stop();
      });

      it('can have clients, each of which ends its processes when it stops', async () => {
        const client = await cluster.addClient();
        const child = await client.exec(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
        const pid = child.pid!;
        expect(isAlive(pid)).to.equal(true);
        await client.stop();
        expect(isAlive(pid)).to.equal(false);
        const next = await cluster.addClient();
        expect(await howItResponds(next, await cluster.leader())).to.equal('answers');
        await next.stop();
      });

      it('leave nothing behind on the machine when they are stopped', async function () {
        if (process.platform !== 'linux') {
          this['skipReason'] = 'what is left is read from /proc, which only Linux has';
          this.skip();
        }
        const { host } = splitEndpoint(cluster.endpoints[0]!);
        const device = network === 'namespaces' ? deviceTo(host) : 'none';
        const traces = tracesOf(process.pid);
        const pids = traces.pids.filter((pid) => !childrenBefore.includes(pid));
        expect(pids).to.include.members(cluster.members.map(({ pid }) => pid));
        expect(traces.namespaces).to.have.length.at.least(network === 'namespaces' ? 4 : 0);
        await cluster.stop();
        await cluster.stop();
        // Waits until the processes have ended. Processes that a child has started, such as the compiler of
        // tsx, end a moment after it.
        await until(async () => expect(pids.filter(runs)).to.deep.equal([]), {
          what: 'all processes are gone',
          withinMs: 2_000,
        });
        expect(traces.namespaces.filter((namespace) => namespacesInUse().has(namespace))).to.deep.equal([]);
        const { links, mounts, names, rules } = sharedTraces();
        expect(links).to.not.include(device);
        for (const { directory } of cluster.members) {
          expect(existsSync(directory)).to.equal(false);
          expect(mounts.filter((mount) => mount.includes(directory))).to.deep.equal([]);
        }
        expect([...names, ...rules].filter((line) => /queuelock|198\.19\./.test(line))).to.deep.equal([]);
      });
    });
  }
}

/** Resolves with whether a write to a member of the cluster is acknowledged within 400 ms. */
async function isAcknowledged(put: Promise<void>): Promise<boolean> {
  const outcome = put.then(
    () => true,
    () => false,
  );
  return Promise.race([outcome, pause(GRACE_MS, false)]);
}

async function timeOf(task: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await task();
  return performance.now() - start;
}

async function shortestOf(task: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  while (times.length < TIMES) times.push(await timeOf(task));
  return Math.min(...times);
}
