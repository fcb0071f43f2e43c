import type { Clock } from '@queuelock/core';
import { findDeadlocks, type Deadlock, type StuckWait } from '@queuelock/recipes';
import type { DeepQueues } from '../queue/deepest-queues.ts';
import type { DeadlocksSnapshot, StuckSnapshot } from '../wire.ts';
import { snapshotOf } from './entry.ts';
import { entryRef } from './eviction.ts';
import { ifDefined } from './if-defined.ts';

/**
 * Time in milliseconds for which a cycle must be seen before it is reported. Snapshots of different queues
 * show different moments, so a cycle may only seem to exist.
 */
const CONFIRM_MS = 1_000;

/** The deadlocks that snapshots have shown for at least a second, and that are therefore real. */
export class SeenDeadlocks {
  readonly #prefix: string;
  readonly #clock: Clock;
  #deep: DeepQueues = { list: { status: 'connecting', queues: [] }, queues: [], omitted: 0 };
  /**
   * The time when each cycle of waiters was first seen. The keys are texts that identify a cycle by its
   * entries.
   */
  #since: ReadonlyMap<string, number> = new Map();
  #sure: readonly Deadlock[] = [];

  constructor(prefix: string, clock: Clock) {
    this.#prefix = prefix;
    this.#clock = clock;
  }

  update(deep: DeepQueues): void {
    this.#deep = deep;
    const now = this.#clock.now();
    const found = findDeadlocks(deep.queues).map((deadlock) => [keyOf(deadlock), deadlock] as const);
    this.#since = new Map(found.map(([key]) => [key, this.#since.get(key) ?? now]));
    this.#sure = found
      .filter(([key]) => now - (this.#since.get(key) ?? now) >= CONFIRM_MS)
      .map(([, deadlock]) => deadlock);
  }

  /**
   * Whether there are cycles of waiters that have been seen for less than a second, and are not reported yet.
   * They may be reported later although no queue changes.
   */
  get isUnsure(): boolean {
    return this.#since.size > this.#sure.length;
  }

  snapshot(at: number): DeadlocksSnapshot {
    const { list, queues, omitted } = this.#deep;
    const deadlocks = this.#sure.map(({ waits }) => waits.map(stuckSnapshot));
    return { ...snapshotOf(list, at), prefix: this.#prefix, deadlocks, included: queues.length, omitted };
  }
}

function keyOf({ waits }: Deadlock): string {
  return JSON.stringify(
    waits.map(({ name, entry, waitsFor }) => [name, entryRef(entry), entryRef(waitsFor)]),
  );
}

function stuckSnapshot({ name, entry, waitsFor }: StuckWait): StuckSnapshot {
  const { host, pid } = entry;
  return {
    name,
    entry: { ...entryRef(entry), ...ifDefined('host', host), ...ifDefined('pid', pid) },
    waitsFor: entryRef(waitsFor),
  };
}
