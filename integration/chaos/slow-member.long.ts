import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { SlowOptions } from '@queuelock/harness/clusters/member';
import { connectedMember } from './connected-member.ts';
import { abandonTrials, startExperiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { holdNow, isHeld } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

// Time in milliseconds for which one member is slow, longer than a session lives without heartbeats. It is
// much longer in long runs.
const WINDOW_MS = RUNS > 1 ? 60_000 : 12_000;
const HOLDERS = 2;
const HOLDS_EACH = 5;
const LOAD = { holdMs: [0, 200], cancelShare: 0.05, abortShare: 0.02, parallel: 2 } as const;

const SLOW: Readonly<Record<string, SlowOptions>> = {
  'that runs half of the time': { duty: { frozenMs: 200, runningMs: 200 } },
  'behind a link of 256 kbit/s': { bytesPerSecond: 32_000 },
  'that loses 5 % of its packets': { lossRatio: 0.05 },
};

for (const store of STORES) {
  describe(`three members of ${store}, one of them slow`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 120_000);
    afterEach(abandonTrials);

    for (const [how, slowness] of Object.entries(SLOW)) {
      it(`cost no holder its lock and block no waiter when the slow member is one ${how}`, async function () {
        const experiment = await startExperiment({ store, profile: 'default', workers: HOLDERS + 3 });
        const why = experiment.cluster.absent.get('loss');
        if (slowness.lossRatio !== undefined && why !== undefined) return this.skip();
        const [next, ...others] = experiment.workers as [WorkerProcess, ...WorkerProcess[]];
        const holders = others.slice(0, HOLDERS);
        const busy = ['a', 'b', 'c'].map((name) => experiment.queue(name));
        for (const worker of others.slice(HOLDERS)) worker.tell({ do: 'load', queues: busy, ...LOAD });
        let survived = 0;
        await oneByOne(async (run) => {
          const holds = holders.flatMap((holder) =>
            Array.from({ length: HOLDS_EACH }, async (_, i) => {
              const queue = experiment.queue(`${holder.id}-${run}-${i}`);
              const held = await holdNow(holder, queue);
              next.tell({ do: 'hold', queue });
              await next.untilEvent('queued', { queue });
              return { holder, held };
            }),
          );
          const held = await Promise.all(holds);
          const member = await connectedMember(experiment, holders[0]!);
          const healed = await experiment.fault(`slow: ${how}`, member.node, () => member.slow(slowness));
          await pause(WINDOW_MS);
          await member.heal();
          healed();
          survived += held.filter((each) => isHeld(each.holder, each.held)).length;
          for (const {
            holder,
            held: { queue },
          } of held) {
            holder.tell({ do: 'release', queue });
            await next.untilEvent('acquired', { queue });
            next.tell({ do: 'release', queue });
          }
        });
        expect(survived).to.be.at.least(0.9 * HOLDERS * HOLDS_EACH * RUNS);
        await expectRight(experiment);
      });
    }
  });
}
