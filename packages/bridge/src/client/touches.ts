import { touchResponseSchema, type JoinKey, type TouchResponse } from '../wire.ts';
import type { Subscription } from '../rx.ts';
import { follow } from '../follow.ts';
import type { ClientClock } from './api.ts';
import type { Calls } from './calls.ts';
import type { PageStream } from './page-stream.ts';

/** A join that this page keeps alive by touches, which are periodic requests to the bridge. */
export interface KeptJoin {
  readonly key: JoinKey;
  /**
   * Called with the bridge's response for this join, and the time by the page's clock at which the touch was
   * sent.
   */
  readonly touched: (response: TouchResponse['joins'][number], sentAt: number) => void;
}

/** The parts of a client that `Touches` uses. */
export interface TouchesTools {
  readonly calls: Calls;
  readonly stream: PageStream;
  readonly clock: ClientClock;
}

const TOUCHES_IN_GRACE = 2.5;

/**
 * Sends touches, which prove to the bridge that the page is alive. One request covers all joins. Each
 * heartbeat of the stream triggers a touch, because browsers slow the timers of a hidden page down to one a
 * minute, but not network events. A timer covers the time when the stream is broken.
 */
export class Touches {
  readonly #tools: TouchesTools;
  readonly #kept = new Set<KeptJoin>();
  #graceMs = 0;
  #signs: Subscription | undefined;
  #cancel: (() => void) | undefined;
  #isInFlight = false;
  #sentAt = -Infinity;

  constructor(tools: TouchesTools) {
    this.#tools = tools;
  }

  /** Includes a join in all touches until the returned function is called. */
  keep(kept: KeptJoin, graceMs: number): () => void {
    this.#kept.add(kept);
    this.#graceMs = graceMs;
    this.#signs ??= follow(this.#tools.stream.data$, () => this.#onSign());
    this.#cancel ??= this.#later();
    return () => {
      this.#kept.delete(kept);
      if (this.#kept.size === 0) this.#stop();
    };
  }

  /** Sends a touch at once, or directly after the touch in flight. */
  now(): void {
    if (!this.#isInFlight) void this.#touch();
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
    this.#isInFlight = true;
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
        const response = joins.find(({ id }) => id === join.key.id);
        if (response) join.touched(response, sentAt);
      }
    } catch {
      // A failed touch needs no handling: the next one follows within the grace, and the page ends a hold by
      // itself when its proven time is over.
    } finally {
      this.#isInFlight = false;
    }
  }
}
