import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Contender, contest, faultsIn, inOrder, percentile, type Hold, type Script } from './contest.ts';
import { endScripts } from '@queuelock/harness/services/script-process';
import { until } from '@queuelock/harness/services/until';

/** How much of it there is. */
interface Extent {
  readonly processes: number;
  readonly rounds: number;
  readonly kills: number;
  /** How long it may take until the next one holds: far less than the lease. */
  readonly soonMs: number;
  readonly withinMs: number;
  /** From 0 to 1: when a process is killed, and which one. */
  readonly chance: () => number;
  /** What was measured, for people. */
  readonly tell?: (what: object) => void;
}

/** Processes that hold and are killed, over one file. */
export function describeContest({ processes, rounds, kills, soonMs, withinMs, chance, tell }: Extent): void {
  describe('processes that contend over a SQLite file', () => {
    let directory: string;
    let script: Script;

    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'queuelock-test-'));
      script = { kind: 'queuelock', directory, file: join(directory, 'locks.db'), holdMs: 0 };
    });
    afterEach(async () => {
      await endScripts();
      rmSync(directory, { recursive: true });
    });

    it(`${processes} processes hold it one at a time, in the order they joined`, async () => {
      const { holds, blocks, tookMs } = await contest(script, { processes, rounds });
      safely(() => expect(faultsIn(holds)).to.deep.equal([]));
      expect(holds).to.have.length(processes * rounds);
      tell?.({ holdsPerSecond: (1_000 * holds.length) / tookMs, blocks });
    }).timeout(withinMs);

    it(`${kills} of them are killed, no two hold it at a time, and the next one is let in at once`, async () => {
      const all: Contender[] = [];
      const enter = async (): Promise<Contender> => {
        const contender = new Contender(all.length, { ...script, rounds: 1e9, holdMs: 10 });
        all.push(contender);
        await contender.ready();
        contender.start();
        return contender;
      };
      let alive = await Promise.all(Array.from({ length: 4 }, enter));
      for (let kill = 0; kill < kills; kill += 1) {
        await untilHeldAgain(alive, soonMs);
        for (let turns = Math.floor(chance() * 50); turns > 0; turns -= 1) await nextTurn();
        const anybody = alive[Math.floor(chance() * alive.length)]!;
        const holder = alive.find(({ holds }) => holds.at(-1)?.killed);
        const victim = kill % 2 === 0 ? (holder ?? anybody) : anybody;
        const others = alive.filter((contender) => contender !== victim);
        await victim.kill();
        await untilHeldAgain(others, soonMs);
        alive = [...others, await enter()];
      }
      await Promise.all(alive.map((contender) => contender.kill()));
      const holds = inOrder(all);
      safely(() => expect(faultsIn(holds)).to.deep.equal([]));
      const times = handovers(holds, all.slice(0, kills));
      tell?.({ killedHolders: times.length, p50: percentile(times, 0.5), max: Math.max(...times) });
      expect(Math.max(0, ...times)).to.be.lessThan(soonMs);
    }).timeout(withinMs);
  });
}

/** Until somebody of these holds it who did not before. */
async function untilHeldAgain(contenders: readonly Contender[], withinMs: number): Promise<void> {
  const count = (): number => contenders.reduce((sum, { holds }) => sum + holds.length, 0);
  const before = count();
  await until(async () => expect(count()).to.be.greaterThan(before), { what: 'another hold', withinMs });
}

/** Milliseconds from the death of a holder to the next hold. The last ones were killed all together. */
function handovers(holds: readonly Hold[], all: readonly Contender[]): readonly number[] {
  const last = Math.max(...all.map(({ endedAt }) => endedAt).filter(Number.isFinite));
  return holds.flatMap((hold, place) => {
    const next = holds[place + 1];
    return hold.killed && next && hold.to < last ? [(next.from - hold.to) / 1_000] : [];
  });
}
