import type { Clock } from '@queuelock/core';

/** A clock whose timers do not run while it is frozen, although time passes. Overdue timers run in order when it resumes. */
export class FreezableClock implements Clock {
  #isFrozen = false;
  #due: (() => void)[] = [];

  readonly now = (): number => performance.now();

  readonly after = (ms: number, task: () => void): (() => void) => {
    const timer = setTimeout(() => {
      this.whenRunning(task);
    }, ms);
    return () => {
      clearTimeout(timer);
      this.#due = this.#due.filter((one) => one !== task);
    };
  };

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  /** Ends the freeze, and runs the overdue timers now. */
  thaw(): void {
    this.#isFrozen = false;
    for (const task of this.#due.splice(0)) task();
  }

  /** Stops the clock for ever, as when a process is killed: none of its timers runs again. */
  kill(): void {
    this.#isFrozen = true;
    this.#due = [];
  }

  /** Runs `task` at once, or at the end of the freeze if the clock is frozen. */
  whenRunning(task: () => void): void {
    if (this.#isFrozen) this.#due.push(task);
    else task();
  }
}
