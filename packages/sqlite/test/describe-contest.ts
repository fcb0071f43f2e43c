import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Contender, contest, faultsIn, inOrder, percentile, type Hold, type Script } from './contest.ts';
import { endScripts } from '@queuelock/harness/services/script-process';
import { until } from '@queuelock/harness/services/until';

/**
 * The size of a contest, in which processes compete for one lock: numbers of processes, of rounds and of
 * killed processes.
 */
interface Extent {
  readonly processes: number;
  readonly rounds: number;
  readonly kills: number;
  /**
   * When a holder is killed, the next one must follow within this many milliseconds, which is far less than
   * the TTL.
   */
  readonly soonMs: number;
  readonly withinMs: number;
  /** Returns a number from 0 to 1. It decides when a process is killed, and which one. */
  readonly chance: () => number;
  /** Receives the text of the measurements and prints it. */
  readonly tell?: (what: object) => void;
}

/** Defines tests in which processes contend for a lock in one file, and some of them are killed. */
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

    it(`hold a lock one at a time, in the order of their entries (${processes} processes)`, async () => {
      const { holds, blocks, tookMs } = await contest(script, { processes, rounds });
      safely(() => expect(faultsIn(holds)).to.deep.equal([]));
      expect(holds).to.have.length(processes * rounds);
      tell?.({ holdsPerSecond: (1_000 * holds.length) / tookMs, blocks });
    }).timeout(withinMs);

    it(`never hold at the same time while ${kills} are killed, and take over from a killed holder before its lease ends`, async () => {
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

/** Resolves when any of the given contenders has started a new hold. */
async function untilHeldAgain(contenders: readonly Contender[], withinMs: number): Promise<void> {
  const count = (): number => contenders.reduce((sum, { holds }) => sum + holds.length, 0);
  const before = count();
  await until(async () => expect(count()).to.be.greaterThan(before), { what: 'another hold', withinMs });
}

/**
 * Returns for each killed holder the milliseconds until the next hold. Does not count the end of the contest, at
 * which all remaining contenders are killed.
 */
function handovers(holds: readonly Hold[], all: readonly Contender[]): readonly number[] {
  const last = Math.max(...all.map(({ endedAt }) => endedAt).filter(Number.isFinite));
  return holds.flatMap((hold, position) => {
    const next = holds[position + 1];
    return hold.killed && next && hold.to < last ? [(next.from - hold.to) / 1_000] : [];
  });
}
