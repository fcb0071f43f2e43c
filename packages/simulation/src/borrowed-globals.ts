import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

interface Handle {
  cancel: () => void;
  ref(): Handle;
  unref(): Handle;
}

// A time of day for labels, which decide nothing.
const EPOCH_MS = 1_700_000_000_000;

/**
 * Puts timers, clocks and chance of the platform under the control of a run: whoever acts takes them from its own machine. So the code of
 * the product and of its libraries runs as it is. Rejections that nobody takes go to `onLost`. The answer gives everything back.
 */
export function borrowGlobals(
  timeline: Timeline,
  random: Random,
  onLost: (reason: unknown) => void,
): () => void {
  const timers = borrowTimers(timeline);
  const rejections = borrowRejections(onLost);
  const now = (): number => timeline.acting?.now() ?? timeline.now();
  const original = { random: Math.random, now: Date.now, randomUUID: crypto.randomUUID };
  Object.assign(Math, { random: () => random.next() });
  Object.assign(Date, { now: () => Math.floor(EPOCH_MS + now()) });
  Object.assign(performance, { now });
  Object.assign(crypto, { randomUUID: () => uuidOf(random) });
  syncBuiltinESMExports();
  return () => {
    timers();
    rejections();
    Object.assign(Math, { random: original.random });
    Object.assign(Date, { now: original.now });
    Reflect.deleteProperty(performance, 'now');
    Object.assign(crypto, { randomUUID: original.randomUUID });
    syncBuiltinESMExports();
  };
}

function borrowTimers(timeline: Timeline): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  type Task = (...args: unknown[]) => void;
  const clear = (handle: Handle | undefined): void => handle?.cancel();
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
  });
  return () => void Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
}

function timerOn({ acting }: Timeline, ms: number, task: () => void): Handle {
  if (!acting) throw new Error('a timer is set by nobody');
  const handle: Handle = {
    cancel: acting.after(Math.max(1, ms), task),
    ref: () => handle,
    unref: () => {
      handle.cancel();
      handle.cancel = acting.later(Math.max(1, ms), task);
      return handle;
    },
  };
  return handle;
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
