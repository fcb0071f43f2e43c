import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ClusterClient } from '@queuelock/harness/clusters';
import { freeze, thaw } from '@queuelock/harness/faults';
import { livedSince } from '@queuelock/harness/lived-time';
import { dyingWithParent } from '@queuelock/harness/services/child';
import { scriptOf } from '@queuelock/harness/services/script';
import { within } from './deadline.ts';
import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import type { WorkerCommand, WorkerSetup } from './worker-command.ts';
import type { Recorder } from '@queuelock/harness/check/worker-record';

const SCRIPT = fileURLToPath(new URL('worker.ts', import.meta.url));
// Time limit of a worker's start in milliseconds. When many processes start at once on few processors, the
// last one takes long.
const MAX_WAIT_MS = 120_000;
const ATTEMPT_STEPS: ReadonlySet<string> = new Set(['enqueue', 'queued', 'acquired', 'released']);
const ATTEMPT_ENDS: ReadonlySet<string> = new Set(['left', 'cancelled', 'revoked', 'failed']);

/** How the harness starts a worker: the setup that the worker gets, and the surroundings of its process. */
export interface WorkerStart {
  readonly setup: WorkerSetup;
  /** Network location of the worker. Default: directly on this machine. */
  readonly place?: ClusterClient;
  /** Additional environment variables of the worker. */
  readonly env?: Readonly<Record<string, string>>;
  /** File that gets the output of the worker's standard streams. */
  readonly output: string;
  /** Recorder for events that the harness itself causes or observes. */
  readonly recorder: Recorder;
}

export interface UntilOptions {
  /** Index in the worker's `events` from which on an event is searched. Default 0. */
  readonly from?: number;
  /** Time limit of waiting for an event in milliseconds. Default 120,000. */
  readonly withinMs?: number;
  /** Description of the event to wait for. The error of a timeout contains it. */
  readonly what?: string;
}

export interface EventOptions<K extends ChaosEvent['ev']> extends UntilOptions {
  readonly queue?: string;
  readonly matches?: (event: EventOf<K>) => boolean;
}

type EventOf<K extends ChaosEvent['ev']> = Extract<ChaosEvent, { ev: K }>;

/** How a worker's process ended. */
export interface WorkerEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A worker as the harness sees it, with its events and the actions on it. */
export class WorkerProcess {
  readonly id: string;
  readonly place: ClusterClient | undefined;
  /** All events that the worker has reported, except reads of `held` without a new result. */
  readonly events: ChaosEvent[] = [];
  readonly ended: Promise<WorkerEnding>;
  readonly #child: ChildProcess;
  readonly #recorder: Recorder;
  readonly #output: string;
  readonly #open = new Map<number, AttemptEvent>();
  readonly #listeners = new Set<() => void>();
  #isFrozen = false;
  /** Time at which the worker was ordered to close, by `performance.now()`. */
  #closedAt: number | undefined;

  private constructor(child: ChildProcess, { setup, place, recorder, output }: WorkerStart) {
    this.id = setup.id;
    this.place = place;
    this.#child = child;
    this.#recorder = recorder;
    this.#output = output;
    child.on('message', (event) => {
      this.#receive(event as ChaosEvent);
      for (const listener of this.#listeners) listener();
    });
    // Waits for the event `close` instead of `exit`, because messages in flight arrive before it.
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(this.#end({ code, signal })));
    });
  }

  /** Resolves when the worker accepts commands. A failed start leaves no process. */
  static async start(start: WorkerStart): Promise<WorkerProcess> {
    const { script, execArgv } = scriptOf(SCRIPT);
    const args = [...execArgv, script, JSON.stringify(start.setup)];
    const output = openSync(start.output, 'a');
    try {
      const env = { ...process.env, ...start.env };
      const options: SpawnOptions = { stdio: ['ignore', output, output, 'ipc'], env };
      const child = await (start.place ?? here).exec(process.execPath, args, options);
      const worker = new WorkerProcess(child, start);
      await worker
        .until(({ ev }) => ev === 'started')
        .catch(async (error: unknown) => {
          await worker.stop();
          throw error;
        });
      return worker;
    } finally {
      closeSync(output);
    }
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the latest recorded event of each attempt that has not ended yet. */
  get openAttempts(): readonly AttemptEvent[] {
    return [...this.#open.values()];
  }

  tell(command: WorkerCommand): void {
    // Sends no command to a process that has just ended, because such a process receives no messages.
    if (this.#child.connected) this.#child.send(command, () => undefined);
  }

  /**
   * Resolves with the worker's first event that matches, even if it was already recorded. The option `from`
   * excludes all events before that index. Rejects when the process ends without such an event, or when the
   * time limit passes.
   */
  async until<E extends ChaosEvent = ChaosEvent>(
    matches: (event: ChaosEvent) => boolean,
    { from = 0, withinMs = MAX_WAIT_MS, what = 'what is awaited' }: UntilOptions = {},
  ): Promise<E> {
    let stop: (() => void) | undefined;
    const found = new Promise<E>((resolve) => {
      let at = from;
      const read = (): void => {
        for (; at < this.events.length; at += 1) if (matches(this.events[at]!)) resolve(this.events[at] as E);
      };
      this.#listeners.add(read);
      stop = () => this.#listeners.delete(read);
      read();
    });
    const without = this.ended.then(({ code, signal }) => {
      throw new Error(`${this.id} ended before that (${String(signal ?? code)}): ${this.printed}`);
    });
    return within(withinMs, Promise.race([found, without]), `${this.id} tells of ${what}`)
      .catch((error: unknown) => {
        const reported = JSON.stringify(this.events.slice(-3));
        throw new Error(`${(error as Error).message}; the last it told: ${reported}`, { cause: error });
      })
      .finally(stop);
  }

  /**
   * Resolves with the worker's first event of the kind `ev`. With the option `queue`, it must also belong to
   * that queue.
   */
  untilEvent<K extends ChaosEvent['ev']>(
    ev: K,
    { queue, matches = () => true, ...options }: EventOptions<K> = {},
  ): Promise<EventOf<K>> {
    return this.until(
      (event) => {
        if (event.ev !== ev || (queue !== undefined && !('queue' in event && event.queue === queue)))
          return false;
        return matches(event as EventOf<K>);
      },
      { what: ev, ...options },
    );
  }

  /** Returns the output of the worker's standard streams. */
  get printed(): string {
    return readFileSync(this.#output, 'utf8').slice(-2_000);
  }

  /** Kills the worker after a failed test, if it still runs. This does not count as a fault. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** Kills the worker with SIGKILL. Resolves when its process has ended. */
  async kill(): Promise<WorkerEnding> {
    this.#recorder.tell({ ev: 'killed', worker: this.id });
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  /** Freezes the worker with SIGSTOP. Resolves when its process is stopped. */
  async freeze(): Promise<void> {
    await freeze(this.pid);
    this.#isFrozen = true;
    this.#recorder.tell({ ev: 'frozen', worker: this.id });
  }

  /** Resumes a frozen process. Does nothing if the process is not frozen. */
  async thaw(): Promise<void> {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    this.#recorder.tell({ ev: 'thawed', worker: this.id });
    await thaw(this.pid);
  }

  #receive(event: ChaosEvent): void {
    this.events.push(event);
    if (event.ev === 'closed') this.#closedAt = performance.now();
    if (!('n' in event)) return;
    if (ATTEMPT_ENDS.has(event.ev)) this.#open.delete(event.n);
    else if (ATTEMPT_STEPS.has(event.ev)) this.#open.set(event.n, event);
  }

  #end(ending: WorkerEnding): WorkerEnding {
    const tookMs = this.#closedAt === undefined ? 0 : livedSince(this.#closedAt);
    const clean = this.#closedAt !== undefined && ending.code === 0;
    this.#recorder.tell({ ev: 'exited', worker: this.id, clean, tookMs });
    return ending;
  }
}

const here = {
  async exec(program: string, args: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
    const command = await dyingWithParent({ program, args });
    return spawn(command.program, command.args, options);
  },
};
