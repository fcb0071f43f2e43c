import type { Clock } from '@queuelock/core';
import { Heap } from './heap.ts';

/** Something that happens at a time, on a machine; without a task it has been called off. */
interface Happening {
  readonly due: number;
  readonly number: number;
  readonly machine: Machine;
  readonly life: number;
  task: (() => void) | undefined;
}

// Taken when the module loads: the global ones are borrowed during a run.
const { setImmediate: nextRound } = globalThis;

/** A round of the event loop: every promise job that is ready runs, and those that they make ready. */
function settle(): Promise<void> {
  return new Promise((resolve) => nextRound(resolve));
}

/** The one true time of a run, in milliseconds: timers, messages and deeds of all machines are events on it, one after the other. */
export class Timeline {
  /** Whose code runs now. */
  acting: Machine | undefined;
  /** Hears when a machine that runs programs has done what an event asked for. */
  onActed: (machine: Machine) => void = () => undefined;
  /** How many events there were. */
  events = 0;
  readonly #heap = new Heap<Happening>((one, other) => one.due - other.due || one.number - other.number);
  #now = 0;
  #number = 0;

  now(): number {
    return this.#now;
  }

  /** In `ms` of true time, unless the machine has crashed by then; the answer calls it off. */
  after(ms: number, machine: Machine, task: () => void): () => void {
    this.#number += 1;
    const due = this.#now + Math.max(0, ms);
    const happening: Happening = { due, number: this.#number, machine, life: machine.life, task };
    if (!machine.isDead) this.#heap.push(happening);
    return () => (happening.task = undefined);
  }

  /** Lets events happen until that time, or until it is over. */
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

  /** Looks at something as that machine would now. */
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

/** How a machine's clock was set and runs, and what runs on it. */
export interface MachineOptions {
  readonly rate?: number;
  readonly bootedAt?: number;
  /** Whether it runs programs, of which promise jobs belong to an event, and not a model of one. */
  readonly hasPromises?: boolean;
}

/** A computer: its clock has a rate of its own; it can stand still while the clock goes on, and crash. */
export class Machine implements Clock {
  readonly name: string;
  readonly hasPromises: boolean;
  /** True time; neither timers nor messages get through before. */
  pausedUntil = 0;
  /** Another one after each crash. */
  life = 0;
  /** Nothing happens on it any more. */
  isDead = false;
  /** Timers that are set and keep a process alive. */
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

  /** The same, without keeping a process alive. */
  later(ms: number, task: () => void): () => void {
    return this.#timeline.after(this.lasting(ms), this, task);
  }

  /** The true time that so many of its milliseconds take. */
  lasting(ms: number): number {
    return ms / this.#rate;
  }

  /** Does it as soon as it can. */
  do(task: () => void): void {
    this.#timeline.after(0, this, task);
  }

  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.#timeline.now() + ms);
  }

  /** Forgets everything that was to happen. */
  crash(): void {
    this.life += 1;
    this.timers = 0;
  }
}
