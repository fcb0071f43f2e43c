import type { Machine, Timeline } from '../timeline.ts';
import type { HoldEnd } from './facts.ts';
import type { Held } from './held.ts';
import type { Judge } from './judge.ts';

/**
 * Records until when each holder believes that it holds. It reads the holder's `remainingMs` only during the
 * proven time. A later read would make a frozen process notice its loss, which a real frozen process cannot
 * do.
 */
export class Beliefs {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /** For each present hold, the simulated time until which its holder believes that it holds. */
  readonly #until = new Map<Held, number>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
    timeline.onActed = (machine) => this.#read(machine);
  }

  begin(held: Held): void {
    if (!held.isOver) this.#request(held);
  }

  /**
   * Returns whether the holder believes at this moment that it holds. Reads `remainingMs` of the product only
   * while the holder's process is running.
   */
  isBelieved(held: Held): boolean {
    if (held.machine === this.#timeline.acting) this.#request(held);
    return (this.#until.get(held) ?? 0) > this.#timeline.now();
  }

  /**
   * Checks that the holder of `held` no longer believes that it holds. Called when the conflicting hold
   * `next` begins after the proven time of `held`. The check runs before all timers of the holder's process,
   * since a timer may end the hold.
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

  /** Ends the records of all present holds at the end of the simulated run. */
  finish(): void {
    for (const held of [...this.#until.keys()]) this.end(held, 'still holds');
  }

  #read(machine: Machine): void {
    const now = this.#timeline.now();
    for (const [held, untilMs] of this.#until)
      if (held.machine === machine && now < untilMs) this.#request(held);
  }

  #request(held: Held): void {
    this.#until.set(held, this.#timeline.now() + held.machine.lasting(held.remainingMs()));
  }
}
