import { safely } from '@queuelock/conformance';
import { createLockClient, type ClaimState, type LockClient } from '@queuelock/core';
import { LocalWaiters } from '@queuelock/core/backend';
import { expect } from 'chai';
import { NEVER } from 'rxjs';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { Connection } from '../src/server/connection.ts';
import { Lookups } from '../src/server/lookups.ts';
import { checkOptions } from '../src/api/options.ts';
import { ProofChoice } from '../src/session/proof-choice.ts';
import { ProxyDetection } from '../src/server/proxy-detection.ts';
import { EtcdSession } from '../src/session/session.ts';
import { Watches } from '../src/server/watches.ts';
import { benchOf } from './bench.ts';
import { Clients, codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { watchesOver } from './watches-over.ts';

const neverAborted = new AbortController().signal;
// A request timeout in milliseconds that is never reached in these tests.
const LONG_TIMEOUT_MS = 60_000;

describe('the loss of an etcd entry', () => {
  const bench = benchOf(new Clients());
  const { clients } = bench;
  let client: LockClient;

  beforeEach(() => {
    const [{ endpoint: hosts }] = bench.proxies;
    const backend = clients.backend({ hosts, requestTimeoutMs: LONG_TIMEOUT_MS, heartbeatProof: 'verified' });
    client = createLockClient(backend, { ttlMs: LONG_TIMEOUT_MS });
  });
  afterEach(() => client.close());

  it('is reported to its holder by the watch, even while no request of the client reaches the server', async () => {
    const { queue, states, end } = await held();
    const [key = ''] = await bench.operator.keysUnder(`${queue}/`);
    const { ownership } = last(states);
    // Holds back all requests of the client from now on, so that none reaches the server.
    bench.proxies[0].toServer.hold();
    await bench.operator.remove(key);
    await eventually('the loss is reported', () => !ownership.held);
    expect(ownership.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'entry-removed' });
    expect(states.at(-1)).to.have.property('status', 'held');
    await bench.proxies[0].heal();
    await end;
    expect(states.at(-1)).to.have.nested.property('error.reason', 'entry-removed');
  });

  it('is reported as SESSION_LOST at the end of the claim if the lease has ended', async () => {
    const { queue, states, end } = await held();
    const [key = ''] = await bench.operator.keysUnder(`${queue}/`);
    const lease = await bench.operator.leaseOf(key);
    const { ownership } = last(states);
    bench.proxies[0].toServer.hold();
    await bench.operator.revoke(lease);
    await eventually('the loss is reported', () => !ownership.held);
    await bench.proxies[0].heal();
    await end;
    expect(states.at(-1)).to.have.property('error', ownership.signal.reason);
    expect(ownership.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'session-lost' });
    expect(ownership.signal.reason).to.have.property('message').that.includes('the session was lost');
  });

  it('is reported to its waiter or holder even if no member responds to the read of its lease', async () => {
    const connection = connect();
    const call = connection.call.bind(connection);
    connection.call = (what, ...request) =>
      what === 'reading a lease' ? new Promise(() => undefined) : call(what, ...request);
    const session = await sessionOver(connection, new Watches(connection, LONG_TIMEOUT_MS));
    const placement = await session.enqueue(newSpec(freshQueue()));
    const removed = clients.follow(placement);
    await bench.operator.remove(placement.key);
    expect(await removed.untilLost()).to.have.property('code', 'ENTRY_LOST');
    await session.close();
    connection.close();
  });

  it('is reported by a heartbeat when the watch delivers no events', async () => {
    const connection = connect();
    const session = await sessionOver(
      connection,
      Object.assign(
        watchesOver(() => NEVER),
        { broken$: NEVER },
      ),
    );
    const [first, second] = [
      await session.enqueue(newSpec(freshQueue())),
      await session.enqueue(newSpec(freshQueue())),
    ];
    const [removed, kept] = [clients.follow(first), clients.follow(second)];
    await session.renew(neverAborted);
    await bench.operator.remove(first.key);
    await session.renew(neverAborted);
    expect(removed.error).to.have.property('code', 'ENTRY_LOST');
    expect(kept.error).to.equal(undefined);
    // A key that is deleted and created again belongs to another entry, so the first entry is lost.
    await bench.operator.remove(second.key);
    await bench.operator.put(second.key);
    await session.renew(neverAborted);
    expect(kept.error).to.have.property('code', 'ENTRY_LOST');
    await session.close();
    expect(await codeOf(session.renew(neverAborted))).to.equal('SESSION_LOST');
    connection.close();
  });

  it('admits no waiter of the same session when the session itself has ended', async () => {
    const connection = connect();
    const watches = new Watches(connection, LONG_TIMEOUT_MS);
    const late = new Set<string>();
    const session = await sessionOver(
      connection,
      Object.assign(
        watchesOver((target) =>
          'key' in target && late.has(target.key.toString()) ? NEVER : watches.watch(target),
        ),
        { broken$: NEVER },
      ),
    );
    const queue = freshQueue();
    const first = await session.enqueue(newSpec(queue));
    const second = await session.enqueue(newSpec(queue));
    late.add(second.key);
    const [, waiter] = [clients.follow(first), clients.follow(second)];
    await bench.operator.revoke(session.id);
    expect(await waiter.untilLost()).to.have.property('code', 'ENTRY_LOST');
    safely(() => expect(waiter.wasAdmitted).to.equal(false));
    await session.close();
    connection.close();
  });

  function connect(): Connection {
    const options = { hosts: bench.server.endpoint, requestTimeoutMs: LONG_TIMEOUT_MS, ...etcdTransport() };
    return new Connection(checkOptions(options));
  }

  async function sessionOver(connection: Connection, watches: Watches): Promise<EtcdSession> {
    const granted = await connection.call('', (driver, options) => driver.leaseGrant({ TTL: 60 }, options));
    return new EtcdSession(
      { id: granted.ID, ttlMs: LONG_TIMEOUT_MS },
      {
        connection,
        watches,
        compactions: { compacted$: NEVER, add: () => undefined, delete: () => undefined } as never,
        lookups: new Lookups(connection),
        followed: new LocalWaiters(),
        prefix: '',
        owner: 'this process',
        namingOf: () => 'go',
        proofChoice: new ProofChoice(connection, 'verified'),
        proxyDetection: new ProxyDetection({ connection, key: Buffer.from('a key') }),
        onClose: () => undefined,
      },
    );
  }

  /** Acquires a lock, waits until the server has confirmed the watch on the holder's own key, and collects the states that the claim emits. */
  async function held(): Promise<{ queue: string; states: ClaimState[]; end: Promise<void> }> {
    const queue = freshQueue();
    const states: ClaimState[] = [];
    const end = client.claim(queue).forEach((state) => void states.push(state));
    await eventually('it is held, and watched', async () => {
      const metrics = await etcdMetrics(bench.server.endpoint);
      const watchers = sumOf(metrics, 'etcd_debugging_mvcc_watcher_total');
      return states.at(-1)?.status === 'held' && watchers === 1;
    });
    return { queue, states, end };
  }
});

function last(states: readonly ClaimState[]): Extract<ClaimState, { status: 'held' }> {
  const state = states.at(-1);
  if (state?.status !== 'held') throw new Error(`it is ${state?.status}`);
  return state;
}
