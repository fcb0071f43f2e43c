import type { Hold } from '@queuelock/core';
import { stampNow } from '@queuelock/harness/check/worker-record';

const LOOK_EVERY_MS = 10;
const WRITE_EVERY_MS = 100;
/** The process stood still, or its event loop did. */
const GAP_MS = 200;

/** One look, before it was taken for whose attempt it was. */
export interface Look {
  readonly ev: 'look';
  readonly t: string;
  readonly held: boolean;
}

/**
 * Looks every 10 ms whether something is held, also after it was lost. Tells of the looks that say something new, of
 * each that follows a standstill, and of one in 100 ms.
 */
export class HoldWatch {
  readonly #hold: Pick<Hold, 'held'>;
  readonly #tell: (look: Look, isNews: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #told: { readonly held: boolean; readonly at: bigint } | undefined;
  #lookedAt: bigint;

  constructor(hold: Pick<Hold, 'held'>, tell: (look: Look, isNews: boolean) => void) {
    this.#hold = hold;
    this.#tell = tell;
    this.#lookedAt = BigInt(stampNow());
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  look(): void {
    const t = stampNow();
    const gapMs = msBetween(this.#lookedAt, BigInt(t));
    const { held } = this.#hold;
    this.#lookedAt = BigInt(t);
    const told = this.#told;
    const isNews = told?.held !== held || gapMs > GAP_MS;
    if (!isNews && msBetween(told.at, BigInt(t)) < WRITE_EVERY_MS) return;
    this.#told = { held, at: BigInt(t) };
    this.#tell({ ev: 'look', t, held }, isNews);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function msBetween(earlier: bigint, later: bigint): number {
  return Number(later - earlier) / 1e6;
}
