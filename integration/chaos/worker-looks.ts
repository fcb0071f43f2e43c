import type { Hold } from '@queuelock/core';
import { stampNow } from '@queuelock/harness/check/worker-record';

const READ_INTERVAL_MS = 10;
const WRITE_EVERY_MS = 100;
/**
 * Longest normal time in milliseconds between two reads of a hold's property `held`. A longer time shows that
 * the process or its event loop was stopped.
 */
const GAP_MS = 200;

/**
 * The result of one read of a hold's property `held`. Before it is recorded, the name of the queue and the
 * number of the worker's attempt are added.
 */
export interface QueueRead {
  readonly ev: 'look';
  readonly t: string;
  readonly held: boolean;
}

// One timer reads all holds of the process, since each hold with a timer of its own would wake the process a hundred
// times a second.
const watches = new Set<HoldWatch>();
let timer: NodeJS.Timeout | undefined;

function watch(hold: HoldWatch): void {
  watches.add(hold);
  timer ??= setInterval(() => {
    for (const each of watches) each.readState();
  }, READ_INTERVAL_MS);
}

function unwatch(hold: HoldWatch): void {
  watches.delete(hold);
  if (watches.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/**
 * Reads the property `held` of a hold every 10 ms, also after a loss of the lock. Reports a read if its
 * result is new, if it is the first after the process was stopped, and at least every 100 ms.
 */
export class HoldWatch {
  readonly #hold: Pick<Hold, 'held'>;
  readonly #tell: (read: QueueRead, isNews: boolean) => void;
  #reported: { readonly held: boolean; readonly at: bigint } | undefined;
  #lookedAt: bigint;

  constructor(hold: Pick<Hold, 'held'>, report: (read: QueueRead, isNews: boolean) => void) {
    this.#hold = hold;
    this.#tell = report;
    this.#lookedAt = BigInt(stampNow());
    watch(this);
  }

  readState(): void {
    const t = stampNow();
    const gapMs = msBetween(this.#lookedAt, BigInt(t));
    const { held } = this.#hold;
    this.#lookedAt = BigInt(t);
    const reported = this.#reported;
    const isNews = reported?.held !== held || gapMs > GAP_MS;
    if (!isNews && msBetween(reported.at, BigInt(t)) < WRITE_EVERY_MS) return;
    this.#reported = { held, at: BigInt(t) };
    this.#tell({ ev: 'look', t, held }, isNews);
  }

  stop(): void {
    unwatch(this);
  }
}

function msBetween(earlier: bigint, later: bigint): number {
  return Number(later - earlier) / 1e6;
}
