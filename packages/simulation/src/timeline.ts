import type { Clock } from '@queuelock/core';
import { Heap } from './heap.ts';

/** A scheduled event of a simulated machine. `task` becomes `undefined` when the event runs or is cancelled. */
interface Happening {
  readonly due: number;
  readonly number: number;
  readonly machine: Machine;
  readonly life: number;
  task: (() => void) | undefined;
}

// Node's own `setImmediate`. A simulated run replaces the global function, so this module keeps the original.
const { setImmediate: nextRound } = globalThis;

/** Waits until Node's event loop has run once, and with it all promise callbacks that are ready. */
function settle(): Promise<void> {
  return new Promise((resolve) => nextRound(resolve));
}

/**
 * The time of a simulation, in milliseconds. Timers, messages and actions of all simulated machines are
 * events, which run one after another in the order of their times.
 */
export class Timeline {
  /** The simulated machine whose code is running. */
  acting: Machine | undefined;
  /** Called after each event of a machine that runs code under test. */
  onActed: (machine: Machine) => void = () => undefined;
  /** Number of events that have run so far. */
  events = 0;
  readonly #heap = new Heap<Happening>((one, other) => one.due - other.due || one.number - other.number);
  #now = 0;
  #number = 0;

  now(): number {
    return this.#now;
  }

  /**
   * Runs the task after `ms`, unless the machine crashes before. Returns a function that cancels the task.
   */
  after(ms: number, machine: Machine, task: () => void): () => void {
    this.#number += 1;
    return this.#push({ due: this.#now + Math.max(0, ms), number: this.#number, machine, task });
  }

  /**
   * Runs the task now, before all other events that are due. If the machine is paused, runs it when the pause
   * ends, before all other events.
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

  /** Runs events up to the simulated time `until`, or until `isOver` returns true. */
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

  /** Calls a function with the clock and timers of `machine`, as if that machine were running it. */
  as<T>(machine: Machine, read: () => T): T {
    const before = this.acting;
    this.acting = machine;
    try {
      return read();
    } finally {
      this.acting = before;
    }
  }
}

/**
 * Options of a simulated machine. `bootedAt` is the initial time of its clock, and `rate` the speed of that
 * clock.
 */
export interface MachineOptions {
  readonly rate?: number;
  readonly bootedAt?: number;
  /**
   * Whether the machine runs code under test, which uses promises. Simulated servers use none, so the
   * simulation need not wait for promise callbacks after their events.
   */
  readonly hasPromises?: boolean;
}

/**
 * A simulated computer with its own clock. It can crash. It can also be paused, while its clock continues.
 */
export class Machine implements Clock {
  readonly name: string;
  readonly hasPromises: boolean;
  /** Simulated time until which the machine is paused: it runs no timers and handles no messages. */
  pausedUntil = 0;
  /** Number of crashes of this machine. Events from before a crash do not run. */
  life = 0;
  /** Whether the machine has crashed for the last time and will not restart. */
  isDead = false;
  /** Number of pending timers on this machine that would keep a Node process alive. */
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

  /** Converts a duration on the clock of this machine to simulated time. */
  lasting(ms: number): number {
    return ms / this.#rate;
  }

  /** Runs the task at the present time, as an event of this machine. */
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
