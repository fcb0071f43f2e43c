/** The durations, in milliseconds, for which a slow process is alternately frozen and running. */
export interface Duty {
  readonly frozenMs: number;
  readonly runningMs: number;
}

/**
 * Freezes a process for a part of the time, again and again. `signal` sends a signal to the process, if it
 * runs.
 */
export class DutyCycle {
  readonly #signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  readonly #duty: Duty;
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: (signal: 'SIGSTOP' | 'SIGCONT') => void, duty: Duty) {
    for (const [name, ms] of Object.entries(duty) as [keyof Duty, number][])
      if (!(ms > 0 && ms < 2 ** 31))
        throw new RangeError(`duty.${name}: ${ms} is not a time in milliseconds`);
    this.#signal = signal;
    this.#duty = duty;
    this.#freeze();
  }

  /** Ends the repeated freezes; the process continues. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#signal('SIGCONT');
  }

  #freeze(): void {
    this.#signal('SIGSTOP');
    this.#timer = setTimeout(() => this.#thaw(), this.#duty.frozenMs).unref();
  }

  #thaw(): void {
    this.#signal('SIGCONT');
    this.#timer = setTimeout(() => this.#freeze(), this.#duty.runningMs).unref();
  }
}
