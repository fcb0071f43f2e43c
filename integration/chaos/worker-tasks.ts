import type { LockClient } from '@queuelock/core';
import { chanceOf } from '@queuelock/harness/chance';
import { Attempt, type Aim, type AttemptSurroundings } from './worker-attempt.ts';
import type { WorkerCommand } from './worker-command.ts';
import { Load, type LoadCommand } from './worker-load.ts';

type Task = Exclude<WorkerCommand, { do: 'close' | 'end' }>;

/**
 * The objects that all commands to one worker share: its lock clients, its recorder of events, its
 * heartbeats, and the resources to which it writes.
 */
export interface TaskSurroundings extends Omit<AttemptSurroundings, 'client'> {
  /** Lock clients, which the worker uses in turn for its attempts. */
  readonly clients: readonly LockClient[];
}

/** Executes the harness's commands, for all queues of one worker. */
export class Tasks {
  readonly #around: TaskSurroundings;
  readonly #chance: () => number;
  readonly #under = new Set<Attempt>();
  readonly #lastOf = new Map<string, Attempt>();
  readonly #loads = new Set<Load>();
  readonly #writers = new Set<NodeJS.Timeout>();
  #count = 0;

  constructor(around: TaskSurroundings, seed: number) {
    this.#around = around;
    this.#chance = chanceOf(seed);
  }

  do(task: Task): void {
    switch (task.do) {
      case 'hold':
        return void this.#hold(task);
      case 'release':
        this.#release(task);
        return;
      case 'downgrade':
        for (const attempt of this.#under) if (attempt.isOn(task.queue)) void attempt.downgrade();
        return;
      case 'load': {
        this.#load(task);
        return;
      }
      case 'drain':
        for (const load of this.#loads) load.stop();
        return;
      case 'stall': {
        this.#stall(task.ms);
        return;
      }
      case 'beats':
        this.#around.heartbeats.sent = task.sent;
        return;
      case 'effect':
        void this.#lastOf.get(task.queue)?.writeUnasked();
    }
  }

  stop(): void {
    for (const load of this.#loads) load.stop();
    for (const writer of this.#writers) clearInterval(writer);
  }

  async #hold({ queue, effectEveryMs, terms = {}, ...more }: Extract<Task, { do: 'hold' }>): Promise<void> {
    const attempt = this.#begin({ queues: [queue, ...(more.with ?? [])], terms });
    if (!(await attempt.granted) || effectEveryMs === undefined) return;
    void attempt.write();
    const writer = setInterval(() => void attempt.write(), effectEveryMs);
    this.#writers.add(writer);
    await attempt.over;
    clearInterval(writer);
    this.#writers.delete(writer);
  }

  #release({ queue, n }: Extract<Task, { do: 'release' }>): void {
    for (const attempt of this.#under) if (attempt.isOn(queue, n)) void attempt.release();
  }

  #load(command: LoadCommand): void {
    const load = new Load(command, this.#chance, (aim) => this.#begin(aim));
    this.#loads.add(load);
    void load.run().finally(() => this.#loads.delete(load));
  }

  #begin(aim: Omit<Aim, 'n'>): Attempt {
    const { clients } = this.#around;
    const n = this.#count + 1;
    this.#count += aim.queues.length;
    const client = clients[n % clients.length]!;
    const attempt = new Attempt({ ...aim, n }, { ...this.#around, client });
    this.#under.add(attempt);
    void attempt.granted.then((held) => {
      if (held) for (const queue of aim.queues) this.#lastOf.set(queue, attempt);
    });
    void attempt.over.then(() => this.#under.delete(attempt));
    return attempt;
  }

  #stall(ms: number): void {
    this.#around.recorder.tell({ ev: 'stalled', ms });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    // Reads the property `held` of every hold directly after the event loop was blocked, before any timer or
    // message can change it.
    for (const attempt of this.#under) attempt.readState();
  }
}
