import type { Clock } from '@queuelock/core';
import { Heap } from './heap.ts';

/** An event of a machine at a time. A cancelled event has no task. */
interface Happening {
  readonly due: number;
  readonly number: number;
  readonly machine: Machine;
  readonly life: number;
  task: (() => void) | undefined;
}

// The platform's own function, which is stored when this module loads, because the globals are replaced
// during a run.
const { setImmediate: nextRound } = globalThis;

/** Waits until one turn of the event loop, with all its promise jobs, has run. */
function settle(): Promise<void> {
  return new Promise((resolve) => nextRound(resolve));
}

/**
 * The true time of a run in milliseconds. Timers, messages and actions of all machines are events that it
 * runs one after another.
 */
export class Timeline {
  /** The machine whose code runs now. */
  acting: Machine | undefined;
  /** Called when a machine that runs programs has handled an event. */
  onActed: (machine: Machine) => void = () => undefined;
  /** Number of events that ran so far. */
  events = 0;
  readonly #heap = new Heap<Happening>((one, other) => one.due - other.due || one.number - other.number);
  #now = 0;
  #number = 0;

  now(): number {
    return this.#now;
  }

  /**
   * Runs the task after `ms` of true time, unless the machine crashes before. The returned function cancels
   * the task.
   */
  after(ms: number, machine: Machine, task: () => void): () => void {
    this.#number += 1;
    return this.#push({ due: this.#now + Math.max(0, ms), number: this.#number, machine, task });
  }

  /**
   * Runs the task now, or when the machine is no longer frozen. It then runs before all other tasks of the
   * machine.
   */
  first(machine: Machine, task: () => void): void {
    this.#number += 1;
    this.#push({ due: this.#now, number: -this.#number, machine, task });
  }

  #push(event: Omit<Happening, 'life'>): () => void {
    const happening: Happening = { ...event, life: event.machine.life };
    if (!event.machine.isDead) this.#heap.push(happening);
    return () => (happening.task = undefined);
  }

  /** Runs events up to the true time `until`, or until `isOver` returns true. */
  async run(until: number, isOver: () => boolean = () => false): Promise<void> {
    for (let next = this.#heap.first; next && next.due <= until && !isOver(); next = this.#heap.first) {
      this.#heap.pop();
      const { task, machine, life } = next;
      if (!task || life !== machine.life) continue;
      if (machine.pausedUntil > next.due) {
        this.#heap.push(Object.assign(next, { due: machine.pausedUntil }));
        continue;
      }
      this.#now = next.due;
      this.events += 1;
      next.task = undefined;
      this.acting = machine;
      task();
      if (machine.hasPromises) {
        await settle();
        this.onActed(machine);
      }
      this.acting = undefined;
    }
    if (!isOver()) this.#now = Math.max(this.#now, until);
  }

  /** Calls a function as if `machine` were running it now. */
  as<T>(machine: Machine, look: () => T): T {
    const before = this.acting;
    this.acting = machine;
    try {
      return look();
    } finally {
      this.acting = before;
    }
  }
}

/** The clock of a machine: its initial time and its rate. */
export interface MachineOptions {
  readonly rate?: number;
  readonly bootedAt?: number;
  /**
   * Whether the machine runs the code under test, whose promise jobs belong to an event. A machine that is
   * only a model has none.
   */
  readonly hasPromises?: boolean;
}

/** A computer with its own clock. It can crash, and it can be paused while its clock continues. */
export class Machine implements Clock {
  readonly name: string;
  readonly hasPromises: boolean;
  /** True time until which the machine handles neither timers nor messages. */
  pausedUntil = 0;
  /** Number that changes with each crash. */
  life = 0;
  /** Whether the machine has ended for ever. */
  isDead = false;
  /** Number of timers that keep a process alive. */
  timers = 0;
  readonly #timeline: Timeline;
  readonly #rate: number;
  readonly #bootedAt: number;

  constructor(timeline: Timeline, name: string, options: MachineOptions = {}) {
    const { rate = 1, bootedAt = 0, hasPromises = false } = options;
    this.name = name;
    this.hasPromises = hasPromises;
    this.#timeline = timeline;
    this.#rate = rate;
    this.#bootedAt = bootedAt;
  }

  now(): number {
    return (this.#timeline.now() + this.#bootedAt) * this.#rate;
  }

  after(ms: number, task: () => void): () => void {
    let isSet = true;
    const unset = (): void => {
      if (isSet) this.timers -= 1;
      isSet = false;
    };
    this.timers += 1;
    const cancel = this.later(ms, () => {
      unset();
      task();
    });
    return () => {
      unset();
      cancel();
    };
  }

  /** Sets a timer that does not keep a process alive. */
  later(ms: number, task: () => void): () => void {
    return this.#timeline.after(this.lasting(ms), this, task);
  }

  /** Converts a duration on this machine's clock to true time. */
  lasting(ms: number): number {
    return ms / this.#rate;
  }

  /** Runs the task as the next event of this machine. */
  do(task: () => void): void {
    this.#timeline.after(0, this, task);
  }

  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.#timeline.now() + ms);
  }

  /** Crashes the machine, which drops all of its pending events. */
  crash(): void {
    this.life += 1;
    this.timers = 0;
  }
}
