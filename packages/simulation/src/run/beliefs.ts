import type { Machine, Timeline } from '../timeline.ts';
import type { HoldEnd } from './facts.ts';
import type { Held } from './holds.ts';
import type { Judge } from './judge.ts';

/**
 * Tracks until when each holder believed in its hold. Reads only when that has no effect: reading a hold whose time has ended
 * ends it at once, not when its process would have noticed.
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

  /** Records a read that found it held. */
  seen(held: Held): void {
    const untilMs = this.#until.get(held);
    if (untilMs !== undefined) this.#until.set(held, Math.max(untilMs, this.#timeline.now()));
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
