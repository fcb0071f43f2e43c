import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { Site } from '../scenarios/stores.ts';
import { soon } from '../scenarios/wait.ts';
import { until } from '@queuelock/harness/services/until';
import { startRunner, type Runner, type Sign } from './runner.ts';

/** What is done to the `queuelock run` that holds: stopped where it is, killed, or cut from the server. Its program knows nothing of it. */
export type Fault = 'frozen' | 'killed' | 'cut';

/** One hand-over that a fault forced. */
export interface Handover {
  readonly fault: Fault;
  /** From the last sign of the program before to the first one of the next, in milliseconds. */
  readonly gapMs: number;
  /** Of the program before, as the next one saw it: `none`, or `Z` where nobody has waited for it yet. Anything else still runs. */
  readonly state: string;
  /** From the fault to the last sign: for how long the program went on. */
  readonly wentOnMs: number;
}

export interface Trials {
  readonly site: Site;
  readonly name: string;
  readonly fault: Fault;
  readonly count: number;
  readonly onHandover?: (handover: Handover) => void;
}

const TURN_WITHIN_MS = 60_000;
const FRESH_MS = 500;

/** Whether the program before had ended when the next one began. */
export function isSound({ gapMs, state }: Handover): boolean {
  return gapMs > 0 && (state === 'none' || state === 'Z' || state === 'X');
}

/** Two `queuelock run` take the lock from each other, one fault after the other. */
export async function handOver(trials: Trials): Promise<Handover[]> {
  const directory = await mkdtemp(join(tmpdir(), 'queuelock-trials-'));
  const file = join(directory, 'program');
  await writeFile(file, '\n');
  const contest = await Contest.open(trials, file);
  try {
    const handovers: Handover[] = [];
    for (let number = 0; number < trials.count; number += 1) {
      const handover = await contest.next(number);
      trials.onHandover?.(handover);
      handovers.push(handover);
    }
    return handovers;
  } finally {
    await contest.close();
    await rm(directory, { recursive: true });
  }
}

/** A runner with a line of its own to the server. */
interface Party {
  readonly proxy: TcpProxy;
  runner: Runner;
  /** How its runner ended; none does by itself. */
  ending?: string;
}

class Contest {
  readonly #trials: Trials;
  readonly #file: string;
  readonly #parties: readonly [Party, Party];

  private constructor(trials: Trials, file: string, [one, other]: readonly [TcpProxy, TcpProxy]) {
    this.#trials = trials;
    this.#file = file;
    this.#parties = [this.#enter(one), this.#enter(other)];
  }

  static async open(trials: Trials, file: string): Promise<Contest> {
    const { endpoint } = trials.site;
    return new Contest(trials, file, [await startProxy(endpoint), await startProxy(endpoint)]);
  }

  /** Waits until both stand in line, does the fault to the one that holds, and waits for the other. */
  async next(number: number): Promise<Handover> {
    const { site, name, fault } = this.#trials;
    await until(() => this.#bothInLine(), {
      what: `both stand in line for ${name}`,
      withinMs: TURN_WITHIN_MS,
      hopeless: () => this.#parties.find(({ ending }) => ending !== undefined)?.ending,
    });
    // Another moment between two heartbeats each time.
    await pause((number * 137) % (site.ttlMs / 4));
    const [holder, rival] = this.#holderAndRival();
    const before = rival.runner.events.length;
    const faultAt = Date.now() / 1_000;
    await this.#break(holder);
    const first = await soon(startFrom(rival.runner, before), `the rival in ${name} starts`, TURN_WITHIN_MS);
    const { events } = holder.runner;
    await this.#mend(holder);
    // Read late, so that nothing which it printed is on its way any more; it begins again only after the next fault.
    const last = events.at(-1)!;
    return {
      fault,
      gapMs: (first.at - last.at) * 1_000,
      state: first.state ?? 'unknown',
      wentOnMs: (last.at - faultAt) * 1_000,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#parties.map(({ runner }) => runner.kill()));
    await Promise.all(this.#parties.map(({ proxy }) => proxy.stop()));
  }

  #enter(proxy: TcpProxy): Party {
    const party: Party = { proxy, runner: this.#start(proxy) };
    this.#observe(party);
    return party;
  }

  #start(proxy: TcpProxy): Runner {
    const { site, name } = this.#trials;
    return startRunner({ url: site.url(proxy.endpoint), name, ttlMs: site.ttlMs, file: this.#file });
  }

  #observe(party: Party): void {
    const { runner } = party;
    void runner.ended.then(({ code, signal, stderr }) => {
      if (runner === party.runner) party.ending = `a runner ended (${String(signal ?? code)}): ${stderr}`;
    });
  }

  /** A machine that is busy loses a lock now and then without our doing: the last sign tells who has it. */
  #holderAndRival(): [Party, Party] {
    const [one, other] = this.#parties;
    return lastSignMs(one) > lastSignMs(other) ? [one, other] : [other, one];
  }

  async #bothInLine(): Promise<void> {
    const { site, name } = this.#trials;
    const entries = await site.entries(name);
    if (entries.length !== 2) throw new Error(`there are ${String(entries.length)} entries`);
    const [holder] = this.#holderAndRival();
    if (Date.now() - lastSignMs(holder) > FRESH_MS) throw new Error('no program runs');
  }

  async #break({ proxy, runner }: Party): Promise<void> {
    if (this.#trials.fault === 'frozen') await runner.freeze();
    if (this.#trials.fault === 'killed') await runner.kill();
    if (this.#trials.fault === 'cut') {
      proxy.toServer.blackhole();
      proxy.toClient.blackhole();
    }
  }

  async #mend(party: Party): Promise<void> {
    if (this.#trials.fault === 'frozen') await party.runner.thaw();
    if (this.#trials.fault === 'killed') {
      party.runner = this.#start(party.proxy);
      delete party.ending;
      this.#observe(party);
    }
    if (this.#trials.fault === 'cut') {
      party.proxy.cut();
      await party.proxy.heal();
    }
  }
}

function lastSignMs({ runner }: Party): number {
  return (runner.events.at(-1)?.at ?? 0) * 1_000;
}

/** The first program that this runner starts after so many signs. */
async function startFrom(runner: Runner, after: number): Promise<Sign> {
  const seen = new Set(runner.events.slice(0, after));
  return runner.until((sign) => sign.ev === 'start' && !seen.has(sign));
}
