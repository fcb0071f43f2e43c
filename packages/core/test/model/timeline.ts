import { virtualClock } from '@queuelock/memory';
import type { Clock } from '../../src/index.ts';

/** The callbacks that check the rules of judge.ts between the events of a history. */
export interface Observer {
  /** Runs before each event of a history, when all promise jobs of the previous event are done. */
  settled(): void;
  /** Runs directly after each event of a history, before the promise jobs that the event has started. */
  acted(): void;
}

/** The virtual time of a history, in whole milliseconds. Every timer, message and action is an event on it. */
export class Timeline implements Clock {
  readonly #clock = virtualClock();
  #observer: Observer = { settled: () => undefined, acted: () => undefined };
  /**
   * The machine whose code is running. A timer that this code sets by `setTimeout`, which the model replaces,
   * belongs to the machine, and does not fire while the machine is frozen.
   */
  acting: Machine | undefined;

  now(): number {
    return this.#clock.now();
  }

  observe(observer: Observer): void {
    this.#observer = observer;
  }

  get timerCount(): number {
    return this.#clock.timerCount;
  }

  after(ms: number, task: () => void, machine?: Machine): () => void {
    let cancel: () => void;
    const run = (): void => {
      if (machine && machine.frozenMs > 0) {
        cancel = this.#clock.after(machine.frozenMs, run);
        return;
      }
      this.acting = machine;
      this.#observer.settled();
      task();
      this.#observer.acted();
    };
    cancel = this.#clock.after(ms, run);
    return () => {
      cancel();
    };
  }

  async advance(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    this.#observer.settled();
  }
}

/**
 * The computer of one client, whose clock has its own rate and offset. While the machine is frozen, its clock
 * continues, but it handles neither timers nor messages. A test may still read its clock, as the code that
 * blocks an event loop can.
 */
export class Machine implements Clock {
  readonly rate: number;
  readonly #timeline: Timeline;
  readonly #bootedAt: number;
  #frozenUntil = -1;

  constructor(timeline: Timeline, { rate, bootedAt }: { readonly rate: number; readonly bootedAt: number }) {
    this.#timeline = timeline;
    this.#bootedAt = bootedAt;
    this.rate = rate;
  }

  now(): number {
    return (this.#timeline.now() + this.#bootedAt) * this.rate;
  }

  after(ms: number, task: () => void): () => void {
    return this.#timeline.after(ms > 0 ? Math.ceil(ms / this.rate) : 0, task, this);
  }

  get frozenMs(): number {
    return Math.max(0, this.#frozenUntil - this.#timeline.now());
  }

  get wasFrozen(): boolean {
    return this.#frozenUntil >= 0;
  }

  /** Whether the machine is frozen, or was so until this instant, so that its timers may be overdue. */
  get late(): boolean {
    return this.#frozenUntil >= this.#timeline.now();
  }

  freeze(ms: number): void {
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#timeline.now() + ms);
  }

  /** Runs a task on this machine: now, or when the machine is no longer frozen. */
  do(task: () => void): void {
    this.after(0, task);
  }
}
