import { scriptOf } from '@queuelock/harness/services/script';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('worker.ts', import.meta.url));

/** The data of a BullMQ job in the tests. */
export interface KeyData {
  readonly key: string;
}

/**
 * The events that a worker process prints. Times are in milliseconds of the monotonic clock that all
 * processes of the machine share.
 */
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

/**
 * One run of a job. It lasts from the start of the work to its end, or until the test orders the kill of its
 * process.
 */
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

  /**
   * Returns the runs that this process has reported so far. A run that the kill of the process interrupted
   * ends at the kill. A run that still continues has no end.
   */
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

/**
 * Returns two runs of one key that overlap, or whose fencing tokens do not grow. Returns `undefined` if there
 * are none.
 */
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
