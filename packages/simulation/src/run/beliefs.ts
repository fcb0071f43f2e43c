import type { Machine, Timeline } from '../timeline.ts';
import type { HoldEnd } from './facts.ts';
import type { Held } from './held.ts';
import type { Judge } from './judge.ts';

/**
 * Records until when each holder believed in its hold. A hold is read only while its time lasts. A later read ends the hold at once, and so
 * would run code of a process that may be frozen.
 */
export class Beliefs {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /** True time until which each present holder believes. */
  readonly #until = new Map<Held, number>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
    timeline.onActed = (machine) => this.#look(machine);
  }

  begin(held: Held): void {
    if (!held.isOver) this.#ask(held);
  }

  /** Returns whether the holder believes in the hold now. Reads the product only where the holder's own process runs. */
  isBelieved(held: Held): boolean {
    if (held.machine === this.#timeline.acting) this.#ask(held);
    return (this.#until.get(held) ?? 0) > this.#timeline.now();
  }

  /** Requires that a hold whose time had ended when `next` began is not held again, also for the first read of its process, before any timer has run. */
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

  /** Finishes at the end of the run. */
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
