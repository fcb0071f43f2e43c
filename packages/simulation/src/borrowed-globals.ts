import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timersPromises from 'node:timers/promises';
import type { Random } from './random.ts';
import type { Machine, Timeline } from './timeline.ts';

/** A simulated timer. */
class Handle {
  cancel: () => void;
  readonly #machine: Machine;
  readonly #ms: number;
  readonly #task: () => void;

  constructor(machine: Machine, ms: number, task: () => void) {
    this.#machine = machine;
    this.#ms = ms;
    this.#task = task;
    this.cancel = machine.after(ms, task);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    this.cancel();
    this.cancel = this.#machine.later(this.#ms, this.#task);
    return this;
  }
}

// Time of day at the start of a simulated run, in milliseconds since 1970. The value is arbitrary, since the
// code under test uses the time of day only in labels of entries.
const EPOCH_MS = 1_700_000_000_000;
// Delay of tasks that code under test runs with `setImmediate`. It is below that of any timer, which is at
// least one millisecond.
const SOON_MS = -1;

/**
 * During a simulated run, replaces the timers, clocks and random numbers of Node by simulated ones. The
 * product and its libraries run unchanged: each simulated machine has its own clock.
 * @param onLost receives unhandled rejections
 * @returns a function that restores the originals
 */
export function borrowGlobals(
  timeline: Timeline,
  random: Random,
  onLost: (reason: unknown) => void,
): () => void {
  const timers = borrowTimers(timeline);
  const rejections = borrowRejections(onLost);
  const now = (): number => timeline.acting?.now() ?? timeline.now();
  const original = { random: Math.random, now: Date.now };
  const { randomUUID, randomBytes } = crypto;
  const { uptime } = os;
  Object.assign(Math, { random: () => random.next() });
  Object.assign(Date, { now: () => Math.floor(EPOCH_MS + now()) });
  Object.assign(performance, { now });
  Object.assign(os, { uptime: () => now() / 1_000 });
  Object.assign(crypto, {
    randomUUID: () => uuidOf(random),
    randomBytes: (size: number) => Buffer.from(Array.from({ length: size }, () => random.int(0, 255))),
  });
  syncBuiltinESMExports();
  return () => {
    timers();
    rejections();
    Object.assign(Math, { random: original.random });
    Object.assign(Date, { now: original.now });
    Reflect.deleteProperty(performance, 'now');
    Object.assign(os, { uptime });
    Object.assign(crypto, { randomUUID, randomBytes });
    syncBuiltinESMExports();
  };
}

function borrowTimers(timeline: Timeline): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;
  const promised = { ...timersPromises };
  type Task = (...args: unknown[]) => void;
  // Also clears a timer that was set before the simulated run, which is one of Node's own timers.
  const clear = (handle: Handle | NodeJS.Timeout | undefined): void => {
    if (handle && 'cancel' in handle) handle.cancel();
    else clearTimeout(handle);
  };
  Object.assign(globalThis, {
    setTimeout: (task: Task, ms = 0, ...args: unknown[]) => timerOn(timeline, ms, () => task(...args)),
    setInterval: (task: Task, ms = 0, ...args: unknown[]) => {
      const handle = timerOn(timeline, ms, function run() {
        handle.cancel = timerOn(timeline, ms, run).cancel;
        task(...args);
      });
      return handle;
    },
    clearTimeout: clear,
    clearInterval: clear,
    setImmediate: (task: Task, ...args: unknown[]) => timerOn(timeline, SOON_MS, () => task(...args)),
    clearImmediate: clear,
  });
  Object.assign(timersPromises, {
    setTimeout: (ms: number, value: unknown, { ref = true }: { readonly ref?: boolean } = {}) =>
      new Promise((resolve) => {
        const handle = timerOn(timeline, ms, () => resolve(value));
        if (!ref) handle.unref();
      }),
    setImmediate: () => new Promise<void>((resolve) => void timerOn(timeline, SOON_MS, () => resolve())),
  });
  return () => {
    Object.assign(timersPromises, promised);
    Object.assign(globalThis, {
      ...{ setTimeout, clearTimeout, setInterval, clearInterval },
      ...{ setImmediate, clearImmediate },
    });
  };
}

function timerOn({ acting }: Timeline, requestedMs: number, task: () => void): Handle {
  if (!acting) throw new Error('a timer is set by nobody');
  const ms = requestedMs === SOON_MS ? 0 : Math.max(1, requestedMs);
  return new Handle(acting, ms, task);
}

function borrowRejections(onLost: (reason: unknown) => void): () => void {
  const listeners = process.rawListeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', onLost);
  return () => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners)
      process.on('unhandledRejection', listener as NodeJS.UnhandledRejectionListener);
  };
}

function uuidOf(random: Random): string {
  const part = (digits: number): string =>
    Math.floor(random.next() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  return [8, 4, 4, 4, 12].map(part).join('-');
}
