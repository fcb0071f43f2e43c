import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScriptProcess, type Ending } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import { machineTime } from '../src/base/machine.ts';

const SCRIPT = fileURLToPath(new URL('./contender.ts', import.meta.url));

/**
 * A hold of a contender. Its times are microseconds of the machine's clock. If the contender's process was
 * killed during the hold, the hold ended at that moment.
 */
export interface Hold {
  readonly who: number;
  readonly token: number;
  readonly wasRequested: number;
  readonly from: number;
  readonly to: number;
  readonly killed: boolean;
}

/** The delays of a contender's event loop in milliseconds: the 99.9th percentile and the maximum. */
export interface Blocks {
  readonly blockP999Ms: number;
  readonly blockMaxMs: number;
}

/** An event that a contender prints. */
export type ContenderEvent = { readonly ev: 'ready' } | ({ readonly ev: 'blocks' } & Blocks);

/** A child process that contends for the lock and prints its events. */
export class Contender extends ScriptProcess<ContenderEvent> {
  readonly #who: number;
  readonly #log: string;
  #killedAt: number | undefined;
  #endedAt = Infinity;

  constructor(
    who: number,
    { kind, directory, file, rounds, holdMs, gapMs = 0 }: Script & { readonly rounds: number },
  ) {
    const log = join(directory, `${who}.log`);
    super(scriptOf(SCRIPT), [kind, file, ...[rounds, holdMs, gapMs].map(String), log]);
    this.#who = who;
    this.#log = log;
    void this.ended.then(() => (this.#endedAt = machineTime()));
  }

  /** Resolves when the contender has opened the file. */
  async ready(): Promise<void> {
    await this.untilEvent('ready');
  }

  start(): void {
    this.tell({});
  }

  override async kill(): Promise<Ending> {
    this.#killedAt = machineTime();
    return super.kill();
  }

  /** Resolves when all rounds of the contender are over. */
  async blocks(): Promise<Blocks> {
    return (await this.untilEvent('blocks')) as Extract<ContenderEvent, { ev: 'blocks' }>;
  }

  get holds(): readonly Hold[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1);
    const events = lines.map((line) => line.split(' '));
    return events.flatMap(([event, token, from], position) => {
      if (event !== 'granted') return [];
      const [requested, next] = [events[position - 1], events[position + 1]];
      const killed = next === undefined;
      const to = killed ? Math.max(this.#killedAt ?? Infinity, Number(from)) : Number(next[2]);
      const times = { wasRequested: Number(requested?.[2]), from: Number(from), to };
      return [{ who: this.#who, token: Number(token), killed, ...times }];
    });
  }

  get endedAt(): number {
    return this.#endedAt;
  }
}

/**
 * The parameters of a contest, in which several processes acquire one lock again and again: the kind of lock,
 * the file, and how long each holds.
 */
export interface Script {
  readonly kind: string;
  readonly directory: string;
  readonly file: string;
  readonly holdMs: number;
  /** Time from the end of a contender's hold to its next request, in milliseconds. Default 0. */
  readonly gapMs?: number;
}

/** What happened in a contest: the holds, and how long steps blocked the event loops. */
export interface Outcome {
  /** The holds of the contest, in the order of their starts. */
  readonly holds: readonly Hold[];
  readonly blocks: readonly Blocks[];
  readonly tookMs: number;
}

/** Starts `processes` contenders at the same time. Each holds the lock `rounds` times. */
export async function contest(
  script: Script,
  { processes, rounds }: { readonly processes: number; readonly rounds: number },
): Promise<Outcome> {
  const contenders = Array.from({ length: processes }, (_, who) => new Contender(who, { ...script, rounds }));
  await Promise.all(contenders.map((contender) => contender.ready()));
  const begun = machineTime();
  for (const contender of contenders) contender.start();
  const blocks = await Promise.all(contenders.map((contender) => contender.blocks()));
  await Promise.all(contenders.map(({ ended }) => ended));
  const tookMs = (machineTime() - begun) / 1_000;
  return { holds: inOrder(contenders), blocks, tookMs };
}

export function inOrder(contenders: readonly Contender[]): readonly Hold[] {
  return contenders.flatMap(({ holds }) => holds).sort((a, b) => a.from - b.from);
}

/** Returns violations: two holds at a time, or a token that is not larger than the one before. */
export function faultsIn(holds: readonly Hold[]): readonly string[] {
  return holds.flatMap((hold, position) => {
    const before = holds[position - 1];
    if (!before) return [];
    const overlap = hold.from < before.to ? [`${hold.token} began before ${before.token} had ended`] : [];
    return hold.token > before.token ? overlap : [...overlap, `${hold.token} came after ${before.token}`];
  });
}

/** Returns the milliseconds from the end of each hold to the start of the next hold of another process. */
export function handoffs(holds: readonly Hold[]): readonly number[] {
  return holds.slice(1).flatMap((hold, position) => {
    const before = holds[position];
    return before && before.who !== hold.who ? [(hold.from - before.to) / 1_000] : [];
  });
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
