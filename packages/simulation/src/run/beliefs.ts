import type { Machine, Timeline } from '../timeline.ts';
import type { HoldEnd } from './facts.ts';
import type { Held } from './held.ts';
import type { Judge } from './judge.ts';

/**
 * Records until when each holder believes that it holds. The holder's `remainingMs` is read only while the
 * proven time lasts. A later read would end the hold at once, and would run code of a process that may be
 * frozen.
 */
export class Beliefs {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /** The true time until which each present holder believes that it holds. */
  readonly #until = new Map<Held, number>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
    timeline.onActed = (machine) => this.#look(machine);
  }

  begin(held: Held): void {
    if (!held.isOver) this.#ask(held);
  }

  /**
   * Returns whether the holder believes now that it holds. Reads the product's `remainingMs` only while the
   * holder's own process runs.
   */
  isBelieved(held: Held): boolean {
    if (held.machine === this.#timeline.acting) this.#ask(held);
    return (this.#until.get(held) ?? 0) > this.#timeline.now();
  }

  /**
   * Checks that a hold whose time had ended when `next` began is not held again. The check runs before any
   * timer of its process, so it is the first code to read the hold.
   */
  requireOver(held: Held, next: Pick<Held, 'who'>): void {
    this.#timeline.first(held.machine, () => {
      const isOver = held.isOver || held.remainingMs() <= 0;
      this.#judge.require(
        'exclusive',
        isOver,
        () => `${next.who} and ${held.who} (${held.token}) at once, which is held again after its time`,
      );
    });
  }

  end(held: Held, how: HoldEnd): void {
    const untilMs = this.#until.get(held);
    if (untilMs === undefined) return;
    this.#until.delete(held);
    const now = this.#timeline.now();
    const { who, queue } = held;
    this.#judge.tell({
      type: 'held',
      ...{ who, queue },
      untilMs: Math.min(untilMs, now),
      how: untilMs < now ? 'lost' : how,
    });
  }

  /** Ends all beliefs at the end of the run. */
  finish(): void {
    for (const held of [...this.#until.keys()]) this.end(held, 'still holds');
  }

  #look(machine: Machine): void {
    const now = this.#timeline.now();
    for (const [held, untilMs] of this.#until) if (held.machine === machine && now < untilMs) this.#ask(held);
  }

  #ask(held: Held): void {
    this.#until.set(held, this.#timeline.now() + held.machine.lasting(held.remainingMs()));
  }
}
