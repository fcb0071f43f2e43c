import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { crossedPair, cutOff } from './cut-off.ts';
import { Detour, stopDetoursAfter } from './detour.ts';
import { untilEntries } from './entries.ts';
import { abandonTrials, startExperiment } from './experiment.ts';
import { STORES, timingOf } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, repeatedlyIn } from './runs.ts';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { atLast, granted, holdNow, isHeld, leave, leaveIfHeld, standIn } from './standing.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

for (const store of STORES) {
  describe(`a client of ${store} that is cut off from the servers`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 40_000);
    // TTL of workers that a fault cuts off from the servers for longer than this TTL; short, to save time.
    // All other workers have a TTL that is long enough for a busy machine.
    const { ttlMs } = timingOf(store, 'fast', true);
    afterEach(() => stopDetoursAfter(abandonTrials));

    it('keeps its hold and its position in a cut of 0.3 TTL', async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { cut, other, held, waiting, before, behind } = await crossedPair(experiment, run);
        await cutOff(experiment, cut, { forMs: 0.3 * experiment.timing.ttlMs });
        await cut.untilEvent('beat', { from: cut.events.length });
        expect(isHeld(cut, held), 'held').to.equal(true);
        await leave(other, before);
        await granted(cut, waiting);
        await leave(cut, waiting);
        await granted(other, behind);
      });
      await expectRight(experiment);
    });

    it('ends its hold before the next hold begins, if it loses its session in a cut of 0.9 TTL', async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { cut, held, next, other } = await crossedPair(experiment, run);
        const from = cut.events.length;
        await cutOff(experiment, cut, { forMs: 0.9 * experiment.timing.ttlMs });
        const healedAt = BigInt(stampNow());
        const isKnown = ({ ev, t }: ChaosEvent): boolean =>
          ev === 'revoked' || (ev === 'beat' && BigInt(t) > healedAt);
        await cut.until(isKnown, { from });
        await leaveIfHeld(cut, held);
        await granted(other, next);
      });
      await expectRight(experiment);
    });

    it('ends its hold at the deadline in a cut of 3 TTL, and leaves no entry in the queue', async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { cut, other, held, waiting, next, before, behind } = await crossedPair(experiment, run, {
          ttlMs,
        });
        await cutOff(experiment, cut, {
          forMs: 3 * ttlMs,
          meanwhile: async () => {
            await cut.untilEvent('revoked', { queue: held.queue });
            await granted(other, next);
            await leave(other, before);
            await granted(other, behind);
            expect(await untilEntries(experiment, held.queue, 1)).to.deep.equal([next.key]);
            expect(await untilEntries(experiment, behind.queue, 1)).to.deep.equal([behind.key]);
          },
        });
        const { code } = await cut.untilEvent('failed', { queue: waiting.queue });
        expect(code).to.equal('SESSION_LOST');
        const again = await standIn(cut, held.queue);
        await leave(other, next);
        await granted(cut, again);
      });
      const { numbers } = await expectRight(experiment);
      expect(numbers.gaps.lost).to.have.lengthOf(RUNS);
    });

    it('keeps an entry although the reply to its enqueue was lost, unless the client gives up', async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const detour = await Detour.start(experiment.cluster);
        const { endpoints } = detour;
        const { cut, other, next } = await crossedPair(experiment, run, { ttlMs, detour: endpoints });
        const from = cut.events.length;
        const kept = experiment.queue(`kept-${run}`);
        const dropped = experiment.queue(`dropped-${run}`);
        const ahead = [await holdNow(other, kept), await holdNow(other, dropped)];
        const healed = await experiment.fault('replies lost', cut.id, async () => {
          detour.loseReplies();
          const over = pause(2 * ttlMs);
          for (const queue of [kept, dropped]) cut.tell({ do: 'hold', queue });
          for (const queue of [kept, dropped]) await untilEntries(experiment, queue, 2);
          cut.tell({ do: 'release', queue: dropped });
          await granted(other, next);
          await over;
        });
        await detour.heal();
        healed();
        const found = await atLast(cut, { ev: 'queued', queue: kept, from });
        const behind = await Promise.all([standIn(other, kept), standIn(other, dropped)]);
        for (const entry of ahead) await leave(other, entry);
        await granted(other, behind[1]);
        await granted(cut, found);
        expect(await untilEntries(experiment, kept, 2)).to.have.members([found.key, behind[0].key]);
        expect(await untilEntries(experiment, dropped, 1)).to.deep.equal([behind[1].key]);
      });
      await expectRight(experiment);
    });
  });
}
