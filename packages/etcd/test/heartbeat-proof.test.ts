import { expect } from 'chai';
import type { Session } from '@queuelock/core/backend';
import { startProxy } from '@queuelock/harness/faults';
import { livedSince } from '@queuelock/harness/lived-time';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import type { HeartbeatProof } from '../src/api/options.ts';
import { staleReads } from '../src/server/read-trust.ts';
import { Clients, freshQueue, newSpec } from './clients.ts';
import { OwnServer } from './own-server.ts';

const neverAborted = new AbortController().signal;
const HEARTBEATS = 10;
// How long one of the two members sends no responses, in milliseconds. Opening a session takes far less time.
const MUTE_MS = 2_000;

describe('heartbeats on etcd', () => {
  const own = new OwnServer();
  const clients = new Clients();

  afterEach(() => clients.close());

  it('cost one round of consensus each, and create no revision, with heartbeatProof "strict"', async () => {
    expect(await costOf({ heartbeatProof: 'strict' })).to.deep.equal({ rounds: HEARTBEATS, revisions: 0n });
  });

  it('cost no round of consensus when they are verified by a read', async () => {
    expect(await costOf({ heartbeatProof: 'verified' })).to.deep.equal({ rounds: 0, revisions: 0n });
  });

  it('have the heartbeatProof "strict" by default only when reads may be stale', async () => {
    const rounds = staleReads(own.server.version) ? HEARTBEATS : 0;
    expect(await costOf({})).to.deep.equal({ rounds, revisions: 0n });
  });

  it('have the heartbeatProof "strict" while the version of a member is unknown', async () => {
    const mute = await startProxy(own.server.endpoint);
    mute.toClient.blackhole();
    const backend = clients.backend({
      hosts: [own.server.endpoint, mute.endpoint],
      requestTimeoutMs: MUTE_MS,
    });
    // Opens one session first, because the backend may begin with the member that sends no responses. Afterwards it uses the other member.
    await (await backend.open(60_000, neverAborted)).close();
    const startedAt = performance.now();
    const session = await backend.open(60_000, neverAborted);
    expect(livedSince(startedAt)).to.be.lessThan(MUTE_MS);
    expect(await roundsOf(session)).to.equal(HEARTBEATS);
    await session.close();
    await clients.close();
    await mute.heal();
    await mute.stop();
  });

  for (const heartbeatProof of ['strict', 'verified'] as const) {
    it(`continue after the removal of an entry, and report the end of the lease (${heartbeatProof})`, async () => {
      const session = await clients.session({ hosts: own.server.endpoint, heartbeatProof });
      const { key } = await session.enqueue(newSpec(freshQueue()));
      await own.operator.remove(key);
      expect(await session.renew(neverAborted)).to.equal(session.ttlMs);
      await own.operator.revoke(session.id);
      const failure: unknown = await session.renew(neverAborted).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'SESSION_LOST');
    });
  }

  /** Returns what ten heartbeats of a session with an entry cost the cluster: the number of consensus rounds and the number of new revisions. */
  async function costOf({
    heartbeatProof,
  }: {
    readonly heartbeatProof?: HeartbeatProof;
  }): Promise<{ rounds: number; revisions: bigint }> {
    const session = await clients.session({
      hosts: own.server.endpoint,
      ...(heartbeatProof ? { heartbeatProof } : {}),
    });
    await session.enqueue(newSpec(freshQueue()));
    const before = await revision();
    const rounds = await roundsOf(session);
    return { rounds, revisions: (await revision()) - before };
  }

  async function roundsOf(session: Session): Promise<number> {
    await session.renew(neverAborted);
    const before = await committed();
    for (let i = 0; i < HEARTBEATS; i += 1) expect(await session.renew(neverAborted)).to.equal(session.ttlMs);
    return (await committed()) - before;
  }

  async function committed(): Promise<number> {
    return sumOf(await etcdMetrics(own.server.endpoint), 'etcd_server_proposals_committed_total');
  }

  async function revision(): Promise<bigint> {
    return BigInt((await own.operator.client.kv.range({ key: Buffer.from('a') })).header.revision);
  }
});
