import { scriptOf } from '@queuelock/harness/services/script';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('worker.ts', import.meta.url));

/** The data of a job. */
export interface KeyData {
  readonly key: string;
}

/** What a worker prints. Times are those of the machine's monotonic clock, in milliseconds. */
export type WorkerEvent =
  | { readonly ev: 'ready' }
  | {
      readonly ev: 'start';
      readonly job: string;
      readonly key: string;
      readonly token: string;
      readonly at: number;
    }
  | { readonly ev: 'end'; readonly job: string; readonly at: number }
  | { readonly ev: 'delayed'; readonly job: string }
  | { readonly ev: 'error'; readonly text: string };

/** One work on a job, from its start to its end or to the order to kill its process. */
export interface Work {
  readonly job: string;
  readonly key: string;
  readonly token: bigint;
  readonly from: number;
  readonly until: number;
}

/** A process with a worker of BullMQ. */
export class WorkerProcess extends ScriptProcess<WorkerEvent> {
  #killedAt = Number.POSITIVE_INFINITY;

  constructor(url: string, queue: string, seed: number) {
    super(scriptOf(SCRIPT), [url, queue, String(seed)]);
  }

  override kill(): ReturnType<ScriptProcess['kill']> {
    this.#killedAt = Math.min(this.#killedAt, Number(process.hrtime.bigint()) / 1e6);
    return super.kill();
  }

  /** Returns its works so far. One that was cut off ends when the process was killed, or has no end. */
  get works(): readonly Work[] {
    return this.events.flatMap((event, nth): Work[] => {
      if (event.ev !== 'start') return [];
      const { job, key, at } = event;
      const end = this.events.slice(nth).find((later) => later.ev === 'end' && later.job === job);
      const until = end?.ev === 'end' ? end.at : this.#killedAt;
      return [{ job, key, token: BigInt(event.token), from: at, until }];
    });
  }
}

/** Returns two works of one key that overlap, or whose tokens do not grow, if there are any. */
export function conflictIn(works: readonly Work[]): readonly [Work, Work] | undefined {
  const sorted = works.toSorted((a, b) => a.from - b.from);
  const last = new Map<string, Work>();
  for (const work of sorted) {
    const before = last.get(work.key);
    if (before && (before.until > work.from || before.token >= work.token)) return [before, work];
    last.set(work.key, work);
  }
  return undefined;
}
