import { expect } from 'chai';
import { isQueueLockError, repeatUntilDefinite, type Session } from '@queuelock/core/backend';
import type { Client } from '../client.ts';
import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import { longestWaitMs } from '../harness.ts';
import { safely } from '../safety.ts';
import type { Stage } from '../stage.ts';

// A store that counts whole milliseconds may expire a session this many milliseconds early. The core's safety
// margin covers this.
const CLOCK_GRAIN_MS = 2;

interface Crash {
  readonly crashed: Client;
  readonly other: Client;
  readonly held: Contender;
  /** The crashed client's second entry, which waits behind the client's admitted entry. */
  readonly waiting: Contender;
  readonly promisedUntil: number;
  readonly crashedAt: number;
  readonly next: Contender;
}

/**
 * Renews the session of a holder once more, and simulates the death of its client. The client has a second
 * entry, which waits. Behind it waits an entry of another client.
 */
async function crashHolder(stage: Stage): Promise<Crash> {
  const crashed = await stage.client(undefined, stage.harness.ttlMs);
  const other = await stage.client();
  const held = await crashed.enter();
  await held.untilAdmitted();
  const waiting = await crashed.enter();
  const next = await other.enter();
  await crashed.silence();
  const { until: promisedUntil } = await crashed.renew();
  await crashed.crash();
  return { crashed, other, held, waiting, promisedUntil, crashedAt: stage.now(), next };
}

/**
 * Resolves with the error code with which a call rejects, or with `no error`. Repeats the call while its
 * outcome is unknown.
 */
export async function definiteCode(stage: Stage, call: () => Promise<unknown>): Promise<string> {
  try {
    await repeatUntilDefinite(call, AbortSignal.timeout(longestWaitMs(stage.harness)));
    return 'no error';
  } catch (error) {
    return isQueueLockError(error) ? error.code : String(error);
  }
}

interface Silence {
  readonly session: Session;
  /** Time since which the client has sent no renewal of this session. */
  readonly since: number;
}

/**
 * Waits until the contender is admitted. Expects this at most the TTL and the harness's `expiryGranularityMs`
 * after the session became silent. Time during which the store or this process is stalled does not count.
 */
export async function admittedSoon(
  next: Contender,
  other: Client,
  { session, since }: Silence,
): Promise<void> {
  const stoodStillMs = await other.stoodStillUntil(next.untilAdmitted());
  const limitMs = session.ttlMs + other.stage.harness.expiryGranularityMs + stoodStillMs;
  expect(next.admittedAt - since).to.be.at.most(limitMs);
}

/**
 * Expects that the contender was not admitted before `time`. Tolerates the rounding of a clock that counts in
 * whole milliseconds.
 */
export function admittedFrom({ admittedAt }: Contender, time: number): void {
  safely(() => expect(admittedAt).to.be.at.least(time - CLOCK_GRAIN_MS));
}

/** Resolves when the session has been renewed for at least twice its TTL, counted from this call. */
export async function untilOutlived(stage: Stage, client: Client): Promise<void> {
  const since = stage.now();
  const { ttlMs } = client.session;
  const longMs = 2 * ttlMs + Math.min(ttlMs, stage.harness.expiryGranularityMs);
  // Waits until twice the TTL has passed and the client has renewed the session more than twice. On a busy
  // machine the renewals may be late.
  await stage.board.until(
    'a session is renewed for twice its TTL',
    () => (stage.now() - since > longMs && client.renewals > 2) || stage.referee.faults.length > 0,
  );
}

/** Facts about sessions: for how long they live, and what their end does to their entries. */
export const livenessFacts: readonly Fact[] = [
  fact('a renewal proves the session for a positive time of at most the TTL', async (stage) => {
    const client = await stage.client();
    await client.silence();
    const { promisedMs } = await client.renew();
    expect(promisedMs).to.be.greaterThan(0);
    safely(() => expect(promisedMs).to.be.at.most(client.session.ttlMs));
  }),

  fact('a session that is renewed outlives its TTL', async (stage) => {
    const client = await stage.client(undefined, stage.harness.ttlMs);
    const other = await stage.client();
    const holder = await client.enter();
    const waiter = await other.enter();
    await untilOutlived(stage, client);
    await holder.untilAdmitted();
    expect(waiter.admitted).to.equal(false);
    expect(await holder.leave()).to.equal(true);
    await waiter.untilAdmitted();
  }),

  fact(
    'a session that is never renewed lives for its TTL, counted from the call that opened it',
    async (stage) => {
      const other = await stage.client();
      const openedAt = stage.now();
      const client = await stage.client(undefined, stage.harness.ttlMs);
      await client.silence();
      await client.enter();
      const next = await other.enter();
      await client.crash();
      await next.untilAdmitted();
      admittedFrom(next, openedAt + client.session.ttlMs);
    },
  ),

  fact('a crashed session keeps its entry for the time that its last renewal proved', async (stage) => {
    const { promisedUntil, next } = await crashHolder(stage);
    await next.untilAdmitted();
    admittedFrom(next, promisedUntil);
  }),

  fact('all entries of a crashed session are removed soon after its TTL', async (stage) => {
    const { crashed, other, crashedAt, next } = await crashHolder(stage);
    await admittedSoon(next, other, { session: crashed.session, since: crashedAt });
    const watch = await stage.watch();
    await watch.untilKeys(next.placement.key);
  }),

  fact('calls on a crashed session are rejected with SESSION_LOST after its TTL', async (stage) => {
    const { crashed, held, next } = await crashHolder(stage);
    await next.untilAdmitted();
    const { session } = crashed;
    const { signal } = new AbortController();
    expect(await definiteCode(stage, () => session.renew(signal))).to.equal('SESSION_LOST');
    expect(await definiteCode(stage, () => session.enqueue(crashed.newSpec()))).to.equal('SESSION_LOST');
    expect(await definiteCode(stage, () => session.tryEnqueue(crashed.newSpec()))).to.equal('SESSION_LOST');
    expect(await session.remove(stage.queue, held.spec.id)).to.equal(false);
  }),

  fact(
    'the entry of a waiter that dies is removed, and the next waiter is admitted only after the holder has left',
    async (stage) => {
      const [holding, waiting] = await stage.threeClients();
      const dying = await stage.client(undefined, stage.harness.ttlMs);
      const line = [await holding.enter(), await dying.enter(), await waiting.enter()];
      const [holder, , last] = line as [Contender, Contender, Contender];
      const watch = await stage.watch();
      await dying.crash();
      await watch.untilKeys(holder.placement.key, last.placement.key);
      expect(last.admitted).to.equal(false);
      await holder.leave();
      await last.untilAdmitted();
    },
  ),

  fact("the streams of turns of a crashed session's entries end with an error", async (stage) => {
    const { held, waiting } = await crashHolder(stage);
    expect(await held.untilLost()).to.be.oneOf(['SESSION_LOST', 'ENTRY_LOST']);
    expect(await waiting.untilLost()).to.be.oneOf(['SESSION_LOST', 'ENTRY_LOST']);
    safely(() => expect(waiting.admitted, 'a turn that came with the end of both').to.equal(false));
  }),

  fact('closing a session removes its entries before the TTL has passed', async (stage) => {
    const [closing, other] = await stage.threeClients();
    const line = [await closing.enter(), await other.enter(), await closing.enter(), await other.enter()];
    const [held, second, , last] = line as [Contender, Contender, Contender, Contender];
    await held.untilAdmitted();
    await closing.silence();
    await closing.renew();
    const renewedAt = stage.now();
    await closing.close();
    await second.untilAdmitted();
    expect(second.admittedAt - renewedAt).to.be.lessThan(closing.session.ttlMs / 2);
    await second.leave();
    await last.untilAdmitted();
  }),

  fact(
    'calls on a closed session are rejected with SESSION_LOST, and closing it again does nothing',
    async (stage) => {
      const client = await stage.client();
      const contender = await client.enter();
      await client.close();
      await client.session.close();
      const { signal } = new AbortController();
      expect(await definiteCode(stage, () => client.session.renew(signal))).to.equal('SESSION_LOST');
      expect(await definiteCode(stage, () => client.session.enqueue(client.newSpec()))).to.equal(
        'SESSION_LOST',
      );
      expect(await client.remove(stage.queue, contender.spec.id)).to.equal(false);
      await (await stage.watch()).untilKeys();
    },
  ),

  fact('closing one session of a connection does not affect the others', async (stage) => {
    const backend = await stage.connect();
    const [closing, staying] = [await stage.client(backend), await stage.client(backend)];
    const held = await staying.enter();
    await closing.enter();
    await closing.close();
    const watch = await stage.watch();
    await watch.untilKeys(held.placement.key);
    await staying.silence();
    expect((await staying.renew()).promisedMs).to.be.greaterThan(0);
    expect(await held.leave()).to.equal(true);
  }),
];
