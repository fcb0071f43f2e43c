import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { consul } from '@queuelock/consul';
import { isQueueLockError, type Session } from '@queuelock/core/backend';
import { startConsulCluster, type ConsulCluster } from '@queuelock/harness/services/consul-cluster';
import { recordLine } from '@queuelock/harness/services/shared';
import { Operator } from './operator.ts';

const TTL_MS = 2_000;
const ROUNDS = 5;
/**
 * Time in milliseconds for which the leader is suspended. The servers elect a new leader after one to two seconds. The new leader ends a session
 * twice its TTL later.
 */
const FROZEN_MS = 2.7 * TTL_MS;
/** The client sends a heartbeat this many milliseconds before the suspended leader continues. The leader then reads the heartbeat first. */
const BEFORE_RESUME_MS = 60;

interface Round {
  /** Time until which the latest confirmed heartbeat proved the session to the client. */
  readonly believedUntil: number;
  readonly goneAt: number;
  /** Whether the suspended leader confirmed a renewal of the session although the servers had replaced that leader. */
  readonly isConfirmed: boolean;
  /** Time at which the test sent that renewal to the suspended leader. */
  readonly sentAt: number;
}

describe('a Consul cluster whose leader is suspended', function () {
  this.timeout(300_000);
  let cluster: ConsulCluster;

  before(async () => {
    cluster = await startConsulCluster();
  });
  after(() => cluster.stop());

  /** Sends a heartbeat. Resolves with the time until which it proves the session. */
  async function newest(session: Session, provenUntil: number): Promise<number> {
    const calledAt = performance.now();
    return calledAt + (await session.renew(AbortSignal.timeout(10_000), provenUntil - calledAt));
  }

  async function round(nth: number): Promise<Round> {
    const leader = await cluster.leader();
    const other = cluster.servers.find((server) => server !== leader)!;
    // The client is connected to the leader that will be suspended, which is the worst case for the client.
    const backend = consul({
      hosts: leader.endpoint,
      prefix: 'frozen/',
      minTtlMs: 100,
      requestTimeoutMs: 5_000,
    });
    const openedAt = performance.now();
    const session = await backend.open(TTL_MS, new AbortController().signal);
    const { key } = await session.enqueue({
      queue: `round ${nth}`,
      id: nth.toString(16).padStart(32, '0'),
      shared: false,
      limit: 1,
    });
    let believedUntil = await newest(session, openedAt + TTL_MS);
    await leader.freeze();
    await pause(FROZEN_MS - BEFORE_RESUME_MS);
    const sentAt = performance.now();
    const confirmed = fetch(`http://${leader.endpoint}/v1/session/renew/${session.id}`, { method: 'PUT' });
    const renewed = newest(session, believedUntil).catch((error: unknown) => {
      if (!isQueueLockError(error)) throw error;
      return 0;
    });
    await pause(BEFORE_RESUME_MS);
    leader.signal('SIGCONT');
    believedUntil = Math.max(believedUntil, await renewed);
    const isConfirmed = (await confirmed).ok;
    const operator = new Operator(other.endpoint);
    let goneAt = performance.now();
    while ((await operator.keysUnder(key)).length > 0) {
      await pause(20);
      goneAt = performance.now();
    }
    await backend.close();
    await cluster.leader();
    return { believedUntil, goneAt, isConfirmed, sentAt };
  }

  it('never ends a session before the time that the heartbeats have proven', async () => {
    const rounds: Round[] = [];
    for (let nth = 1; nth <= ROUNDS; nth += 1) rounds.push(await round(nth));
    const early = rounds.filter(({ believedUntil, goneAt }) => goneAt < believedUntil);
    const plain = rounds.filter(
      ({ isConfirmed, sentAt, goneAt }) => isConfirmed && goneAt < sentAt + TTL_MS,
    ).length;
    const text = `of ${ROUNDS} renewals that a suspended leader found, ${plain} were confirmed and did not hold`;
    recordLine('heartbeats of @queuelock/consul', text);
    expect(early).to.deep.equal([]);
    const control = 'a control: without the rule of provenBy, some belief would have been wrong';
    expect(plain, control).to.be.greaterThan(0);
  });
});
