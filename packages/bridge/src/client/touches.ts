import { touchResponseSchema, type JoinKey, type TouchResponse } from '../wire.ts';
import type { Subscription } from '../rx.ts';
import { follow } from '../follow.ts';
import type { ClientClock } from './api.ts';
import type { Calls } from './calls.ts';
import type { Line } from './line.ts';

/** A join that has to be kept. */
export interface Kept {
  readonly key: JoinKey;
  /** What the bridge answered to a touch that was sent at this time of the clock. */
  readonly touched: (answer: TouchResponse['joins'][number], sentAt: number) => void;
}

/** What touches are made with. */
export interface TouchesTools {
  readonly calls: Calls;
  readonly line: Line;
  readonly clock: ClientClock;
}

const TOUCHES_IN_GRACE = 2.5;

/**
 * Tells the bridge that the page is there, for all its joins at once: whenever a heartbeat comes, since browsers slow the timers of a hidden page
 * down to one a minute but not what comes over the network; and by a timer, for the time in which the stream is broken.
 */
export class Touches {
  readonly #tools: TouchesTools;
  readonly #kept = new Set<Kept>();
  #graceMs = 0;
  #signs: Subscription | undefined;
  #cancel: (() => void) | undefined;
  #isUnderWay = false;
  #sentAt = -Infinity;

  constructor(tools: TouchesTools) {
    this.#tools = tools;
  }

  /** Touches until the answer is called. */
  keep(kept: Kept, graceMs: number): () => void {
    this.#kept.add(kept);
    this.#graceMs = graceMs;
    this.#signs ??= follow(this.#tools.line.signs$, () => this.#onSign());
    this.#cancel ??= this.#later();
    return () => {
      this.#kept.delete(kept);
      if (this.#kept.size === 0) this.#stop();
    };
  }

  /** At once, or right after the one that is under way. */
  now(): void {
    if (!this.#isUnderWay) void this.#touch();
  }

  #onSign(): void {
    const { clock } = this.#tools;
    if (clock.now() - this.#sentAt >= this.#graceMs / (2 * TOUCHES_IN_GRACE)) this.now();
  }

  #later(): () => void {
    return this.#tools.clock.after(this.#graceMs / TOUCHES_IN_GRACE, () => {
      this.#cancel = this.#later();
      this.#onSign();
    });
  }

  #stop(): void {
    this.#signs?.unsubscribe();
    this.#signs = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #touch(): Promise<void> {
    const { calls, clock } = this.#tools;
    const kept = [...this.#kept];
    if (kept.length === 0) return;
    this.#isUnderWay = true;
    const sentAt = (this.#sentAt = clock.now());
    try {
      const body = { joins: kept.map(({ key }) => key) };
      const withinMs = this.#graceMs / TOUCHES_IN_GRACE;
      const { joins } = await calls.post({
        path: 'joins/touch',
        body,
        answer: touchResponseSchema,
        withinMs,
      });
      for (const join of kept) {
        const answer = joins.find(({ id }) => id === join.key.id);
        if (answer) join.touched(answer, sentAt);
      }
    } catch {
      // The next one follows soon, and what is not proven meanwhile ends by itself.
    } finally {
      this.#isUnderWay = false;
    }
  }
}
