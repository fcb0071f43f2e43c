import { expect } from 'chai';
import type { Client } from '../client.ts';
import { fact, type Fact } from '../fact.ts';
import { lacks } from '../lacks.ts';
import type { Stage } from '../stage.ts';
import { admittedFrom, admittedSoon, definiteCode, untilOutlived } from './liveness.ts';
import { expectOnlyAdmitted } from './line.ts';

function resumeFact(title: string, play: (stage: Stage) => Promise<void>): Fact {
  return fact(title, play, ['resumption']);
}

/** Resolves with the error code with which the call `resume` rejects. */
async function codeOfResuming(stage: Stage, resumption: string | undefined): Promise<string> {
  return definiteCode(stage, async () => stage.resume(resumption));
}

async function removeUnclaimed({ session, stage }: Client): Promise<void> {
  const done = session.removeUnclaimed?.() ?? lacks('Session.removeUnclaimed');
  await stage.board.within('removeUnclaimed answers', done);
}

async function handOver(stage: Stage, client: Client): Promise<Client> {
  return stage.resume(await stage.abandon(client));
}

/** Facts about sessions that one process abandons and another process resumes. */
export const resumptionFacts: readonly Fact[] = [
  resumeFact('a resumed session keeps its entries at their positions', async (stage) => {
    const [first, other] = await stage.threeClients();
    const slots = { queue: `${stage.queue}-slots`, limit: 3, permits: 2 };
    const files = { queue: `${stage.queue}-files`, shared: true };
    const held = [await first.enter(), await first.enter(slots), await first.enter(files)];
    const behind = [
      await other.enter(),
      await other.enter(slots),
      await other.enter({ ...files, shared: false }),
    ];
    await expectOnlyAdmitted(stage, [...held, ...behind], held);
    const resumed = await handOver(stage, first);
    expect(resumed.session.id).to.equal(first.session.id);
    const retaken = [];
    for (const entry of held) retaken.push(await resumed.retake(entry));
    await expectOnlyAdmitted(stage, [...retaken, ...behind], retaken);
    for (const [place, entry] of retaken.entries()) {
      expect(await entry.leave()).to.equal(true);
      await expectOnlyAdmitted(stage, behind, behind.slice(0, place + 1));
    }
    const last = await resumed.enter();
    await behind[0]?.leave();
    await last.untilAdmitted();
  }),

  resumeFact('a waiter of a resumed session keeps its position', async (stage) => {
    const [holding, waiting, behind] = await stage.threeClients();
    const line = [await holding.enter(), await waiting.enter(), await behind.enter()] as const;
    const resumption = await stage.abandon(waiting);
    await line[0].leave();
    await expectOnlyAdmitted(stage, line, []);
    const resumed = await stage.resume(resumption);
    const retaken = await resumed.retake(line[1]);
    await expectOnlyAdmitted(stage, [retaken, line[2]], [retaken]);
    await retaken.leave();
    await line[2].untilAdmitted();
  }),

  resumeFact('a session whose process died can be resumed', async (stage) => {
    const [dying, other] = await stage.threeClients();
    const { resumption } = dying.session;
    const held = await dying.enter();
    const waiter = await other.enter();
    await dying.crash();
    const resumed = await stage.resume(resumption);
    const retaken = await resumed.retake(held);
    await expectOnlyAdmitted(stage, [retaken, waiter], [retaken]);
    await retaken.leave();
    await waiter.untilAdmitted();
  }),

  resumeFact('a resumed session that is renewed outlives its TTL', async (stage) => {
    const [client, other] = [await stage.client(undefined, stage.harness.ttlMs), await stage.client()];
    const held = await client.enter();
    const waiter = await other.enter();
    const resumed = await handOver(stage, client);
    const retaken = await resumed.retake(held);
    await untilOutlived(stage, resumed);
    await expectOnlyAdmitted(stage, [retaken, waiter], [retaken]);
    expect(await retaken.leave()).to.equal(true);
    await waiter.untilAdmitted();
  }),

  resumeFact(
    'a former client that closes a session after it was resumed elsewhere does not end it',
    async (stage) => {
      const [former, other] = await stage.threeClients();
      const held = await former.enter();
      const waiter = await other.enter();
      await former.silence();
      const resumed = await stage.resume(former.session.resumption);
      const retaken = await resumed.retake(held);
      // From now on it is no violation if the contender of the first client, whose session was resumed
      // elsewhere, loses the entry.
      held.giveUp();
      await former.session.close();
      await expectOnlyAdmitted(stage, [retaken, waiter], [retaken]);
      expect(await retaken.leave()).to.equal(true);
      await waiter.untilAdmitted();
    },
  ),

  resumeFact(
    'a session that was resumed elsewhere is lost to its former client at its next renewal',
    async (stage) => {
      const [former, other] = await stage.threeClients();
      const held = await former.enter();
      const waiter = await other.enter();
      await former.silence();
      const resumed = await stage.resume(former.session.resumption);
      const retaken = await resumed.retake(held);
      const renewing = (client: Client): Promise<string> =>
        definiteCode(stage, () => client.session.renew(new AbortController().signal));
      expect(await renewing(former)).to.equal('SESSION_LOST');
      // The client that used the session first and the client that resumed it each have a contender for the
      // same entry. Only the resuming client's contender must keep the entry. So from now on it is no
      // violation if the other contender loses it.
      held.giveUp();
      await former.session.close();
      expect(await renewing(resumed)).to.equal('no error');
      await expectOnlyAdmitted(stage, [retaken, waiter], [retaken]);
      await retaken.leave();
      await waiter.untilAdmitted();
    },
  ),

  resumeFact('unclaimed entries of a resumed session are removed on demand, and no others', async (stage) => {
    const [first, other] = await stage.threeClients();
    const files = { queue: `${stage.queue}-files`, shared: true };
    const slots = { queue: `${stage.queue}-slots`, limit: 3, permits: 2 };
    const [claimed, ...left] = [await first.enter(), await first.enter(files), await first.enter(slots)];
    const behind = [
      await other.enter(),
      await other.enter({ ...files, shared: false }),
      await other.enter(slots),
    ];
    const resumed = await handOver(stage, first);
    const retaken = await resumed.retake(claimed);
    const entered = await resumed.enter({ queue: `${stage.queue}-new` });
    for (const one of left) one.giveUp();
    await removeUnclaimed(resumed);
    await expectOnlyAdmitted(stage, [retaken, entered, ...behind], [retaken, entered, ...behind.slice(1)]);
    expect(await retaken.leave()).to.equal(true);
    await behind[0]?.untilAdmitted();
  }),

  resumeFact(
    'a session that was opened keeps its entries when its unclaimed entries are removed',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const held = await client.enter();
      const waiter = await other.enter();
      await removeUnclaimed(client);
      await expectOnlyAdmitted(stage, [held, waiter], [held]);
    },
  ),

  resumeFact('a session can be abandoned and resumed repeatedly', async (stage) => {
    let client = await stage.client();
    let held = await client.enter();
    const waiter = await (await stage.client()).enter();
    for (let round = 0; round < 3; round += 1) {
      client = await handOver(stage, client);
      held = await client.retake(held);
    }
    await expectOnlyAdmitted(stage, [held, waiter], [held]);
    await client.close();
    await waiter.untilAdmitted();
  }),

  resumeFact(
    'a session that is not resumed ends with its TTL, and cannot be resumed later',
    async (stage) => {
      const [leaving, other] = [await stage.client(undefined, stage.harness.ttlMs), await stage.client()];
      const held = await leaving.enter();
      const next = await other.enter();
      await held.untilAdmitted();
      await leaving.silence();
      const { until: promisedUntil } = await leaving.renew();
      const resumption = await stage.abandon(leaving);
      const abandonedAt = stage.now();
      // The entry may be lost from now on without a violation, because the fact waits until the entry is
      // lost.
      held.giveUp();
      await admittedSoon(next, other, { session: leaving.session, since: abandonedAt });
      admittedFrom(next, promisedUntil);
      expect(await codeOfResuming(stage, resumption)).to.equal('SESSION_LOST');
    },
  ),

  resumeFact('a session that was closed cannot be resumed', async (stage) => {
    const client = await stage.client();
    const { resumption } = client.session;
    await client.enter();
    await client.close();
    // `close` also resolves when the store's response is late. Then the store removes the session and its
    // entries a little later.
    await (await stage.watch()).untilKeys();
    expect(await codeOfResuming(stage, resumption)).to.equal('SESSION_LOST');
  }),
];
