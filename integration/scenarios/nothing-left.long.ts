import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import { medianOf } from '@queuelock/harness/median';
import { endScripts } from '@queuelock/harness/services/script-process';
import { CyclesProcess } from './leftovers.ts';
import { stores } from './stores.ts';
import type { OwnSite } from './store.ts';

const ROUNDS = 20;
const CYCLES_IN_ROUND = 1_000;
/**
 * Number of rounds of locking before the measurement begins. These rounds fill caches and pools, and let Node
 * compile the code.
 */
const WARM_UP_ROUNDS = 10;
// Limit of the heap's growth in bytes for each lock. Code that Node compiles between the measurements
// accounts for 10 to 40 bytes for each lock. If every lock left its entry in memory, the growth would exceed
// the limit.
const MAX_BYTES_PER_CYCLE = 100;
const EXITS = 5;
const EXIT_WITHIN_MS = 2_000;

for (const store of stores) {
  describe(`${ROUNDS * CYCLES_IN_ROUND} locks in ${store.name}`, function () {
    this.timeout(300_000);
    let site: OwnSite;

    before(async () => {
      site = await store.start('nothing left');
    });

    after(async () => {
      await endScripts();
      await site.server.stop();
    });

    it(`let the heap grow by less than ${MAX_BYTES_PER_CYCLE} bytes for each lock`, async () => {
      const cycles = new CyclesProcess(site, ROUNDS, CYCLES_IN_ROUND, 'heap');
      const settled = (await cycles.rounds()).slice(WARM_UP_ROUNDS).map(({ heapBytes }) => heapBytes!);
      const bytes = slopeOf(settled) / CYCLES_IN_ROUND;
      console.log(`      ${bytes.toFixed(0)} bytes a lock`);
      expect(bytes).to.be.lessThan(MAX_BYTES_PER_CYCLE);
      await cycles.kill();
    });

    it(`let the process end within ${EXIT_WITHIN_MS} ms after the client closes`, async () => {
      const tookMs: number[] = [];
      for (let exit = 0; exit < EXITS; exit += 1) {
        const cycles = new CyclesProcess(site, 1, CYCLES_IN_ROUND, 'heap');
        await cycles.rounds();
        await cycles.close();
        const closedAt = performance.now();
        await cycles.ended;
        tookMs.push(livedSince(closedAt));
      }
      console.log(`      ${medianOf(tookMs).toFixed(0)} ms`);
      expect(medianOf(tookMs)).to.be.lessThan(EXIT_WITHIN_MS);
    });
  });
}

/**
 * Returns the median of the slopes between all pairs of equally spaced values (Theil-Sen estimator), which
 * outliers do not affect.
 */
function slopeOf(values: readonly number[]): number {
  return medianOf(
    values.flatMap((value, at) =>
      values.slice(0, at).map((earlier, before) => (value - earlier) / (at - before)),
    ),
  );
}
