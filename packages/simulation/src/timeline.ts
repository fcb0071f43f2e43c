import type { Clock } from '@queuelock/core';
import { Heap } from './heap.ts';

/** A scheduled event of a simulated machine. `task` becomes `undefined` when the event runs or is cancelled. */
interface Happening {
  due: number;
  readonly number: number;
  readonly machine: Machine;
  readonly life: number;
  /** Whether the event counts as a timer of its machine while it is pending. */
  readonly isTimer: boolean;
  task: (() => void) | undefined;
}

// Node's own `setImmediate`. A simulated run replaces the global function, so this module keeps the original.
const { setImmediate: nextImmediate } = globalThis;
const STEPS_IN_A_ROUND = 500;
const READY = Promise.resolve();

/**
 * Calls `step` again and again until it returns false. Between two calls, Node runs all promise callbacks and
 * ticks that are ready, and reports rejections that are not handled. It does that after each task of
 * `setImmediate`. A round of the event loop runs many such tasks, since a round per step would take longer.
 */
function inRounds(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let isDone = false;
    const advance = (): void => {
      if (isDone) return;
      try {
        isDone = !step();
        if (isDone) resolve();
      } catch (error) {
        isDone = true;
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    // Runs the step as a promise callback: the ticks that it schedules run after its own promise callbacks.
    const schedule = (): void => void READY.then(advance);
    const round = (): void => {
      if (isDone) return;
      for (let i = 0; i < STEPS_IN_A_ROUND; i += 1) nextImmediate(schedule);
      nextImmediate(round);
    };
    round();
  });
}

/** Ends the event and returns its task, or `undefined` if the event has run or was cancelled. */
function take(happening: Happening): (() => void) | undefined {
  const { task, machine } = happening;
  if (task && happening.isTimer) machine.timers -= 1;
  happening.task = undefined;
  return task;
}

function isEarlier(one: Happening, other: Happening): boolean {
  return one.due < other.due || (one.due === other.due && one.number < other.number);
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
  readonly #heap = new Heap<Happening>(isEarlier);
  #now = 0;
  #number = 0;

  now(): number {
    return this.#now;
  }

  /**
   * Runs the task after `ms`, unless the machine crashes before. Returns a function that cancels the task.
   */
  after(ms: number, machine: Machine, task: () => void): () => void {
    const due = this.#now + Math.max(0, ms);
    return this.#push({ due, number: this.#next(), machine, life: machine.life, isTimer: false, task });
  }

  /** Does the same as `after`, and the machine counts the task in `timers` until it runs or is cancelled. */
  timer(ms: number, machine: Machine, task: () => void): () => void {
    machine.timers += 1;
    const due = this.#now + Math.max(0, ms);
    return this.#push({ due, number: this.#next(), machine, life: machine.life, isTimer: true, task });
  }

  #next(): number {
    this.#number += 1;
    return this.#number;
  }

  #push(happening: Happening): () => void {
    if (!happening.machine.isDead) this.#heap.push(happening);
    return () => void take(happening);
  }

  /**
   * Runs the task now, before all other events that are due. If the machine is paused, runs it when the pause
   * ends, before all other events.
   */
  first(machine: Machine, task: () => void): void {
    const { life } = machine;
    this.#push({ due: this.#now, number: -this.#next(), machine, life, isTimer: false, task });
  }

  /** Runs events up to the simulated time `until`, or until `isOver` returns true. */
  run(until: number, isOver: () => boolean = () => false): Promise<void> {
    return inRounds(() => {
      this.#settled();
      return this.#step(until, isOver);
    });
  }

  /**
   * Runs events up to and including the next one of a machine with promises. Returns false if no event is
   * left to run.
   */
  #step(until: number, isOver: () => boolean): boolean {
    for (let next = this.#heap.first; next && next.due <= until && !isOver(); next = this.#heap.first) {
      this.#heap.pop();
      const { machine } = next;
      if (!next.task || next.life !== machine.life) continue;
      if (machine.pausedUntil > next.due) {
        next.due = machine.pausedUntil;
        this.#heap.push(next);
        continue;
      }
      this.#now = next.due;
      this.events += 1;
      this.acting = machine;
      take(next)?.();
      if (machine.hasPromises) return true;
      this.acting = undefined;
    }
    if (!isOver()) this.#now = Math.max(this.#now, until);
    return false;
  }

  /** Ends the event of the previous step, after all promise callbacks that it made ready. */
  #settled(): void {
    if (!this.acting) return;
    this.onActed(this.acting);
    this.acting = undefined;
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
    return this.#timeline.timer(this.lasting(ms), this, task);
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
