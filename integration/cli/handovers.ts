import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { Site } from '../scenarios/store.ts';
import { soon } from '../scenarios/wait.ts';
import { until } from '@queuelock/harness/services/until';
import { startRunner, type Runner, type Sign } from './runner.ts';

/**
 * Fault of the `queuelock run` that holds: frozen, killed, or cut off from the server. The fault does not
 * affect the program that it runs.
 */
export type Fault = 'frozen' | 'killed' | 'cut';

/** One hand-over of the lock, which a fault of the holding process caused. */
export interface Handover {
  readonly fault: Fault;
  /**
   * Milliseconds from the last output of the program whose process held, to the first output of the program
   * of the next holder. Programs print a line every 20 ms while they run.
   */
  readonly gapMs: number;
  /**
   * State of the previous program when the next one started: `none`, or `Z` (zombie) if it had ended and its
   * parent had not yet collected its exit status. Any other value means that it still ran.
   */
  readonly state: string;
  /** Milliseconds from the fault to the last output of the program whose process held. */
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

/** Returns whether the program of the former holder had ended when the program of the next holder began. */
export function isSound({ gapMs, state }: Handover): boolean {
  return gapMs > 0 && (state === 'none' || state === 'Z' || state === 'X');
}

/**
 * Starts two `queuelock run` processes for one lock. Makes one fault after another, each on the process that
 * holds at the time. Each fault hands the lock to the other process.
 */
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

/** A `queuelock run` process with its own proxy to the server. */
interface Party {
  readonly proxy: TcpProxy;
  runner: Runner;
  /** How the process ended; set only by a failure, since it never ends by itself. */
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

  /**
   * Waits until both `queuelock run` processes are in the queue, makes the fault on the holder, and waits
   * until the other process holds.
   */
  async next(number: number): Promise<Handover> {
    const { site, name, fault } = this.#trials;
    await until(() => this.#bothInLine(), {
      what: `both stand in line for ${name}`,
      withinMs: TURN_WITHIN_MS,
      hopeless: () => this.#parties.find(({ ending }) => ending !== undefined)?.ending,
    });
    // Waits for a time that differs with each call, so that faults happen at different moments between two
    // heartbeats.
    await pause((number * 137) % (site.ttlMs / 4));
    const [holder, competitor] = this.#holderAndRival();
    const before = competitor.runner.events.length;
    const faultAt = Date.now() / 1_000;
    await this.#break(holder);
    const first = await soon(
      startFrom(competitor.runner, before),
      `the rival in ${name} starts`,
      TURN_WITHIN_MS,
    );
    const { events } = holder.runner;
    await this.#mend(holder);
    // Reads the last output of the previous program late, so that all of it has arrived. The program cannot
    // run again before the next fault.
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

  /**
   * Returns the process that holds, and the process that waits. The process whose program printed last holds:
   * on a busy machine a lock is sometimes lost without a fault.
   */
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

/**
 * Resolves when the `queuelock run` process starts its next program. The first `after` lines of output do not
 * count.
 */
async function startFrom(runner: Runner, after: number): Promise<Sign> {
  const seen = new Set(runner.events.slice(0, after));
  return runner.until((sign) => sign.ev === 'start' && !seen.has(sign));
}
