import type { LockClient } from '@queuelock/core';
import type { Machine } from '../timeline.ts';
import type { ClientPlan } from './plan.ts';
import { Program } from './program.ts';
import type { Surroundings } from './surroundings.ts';
import type { Access, Connected } from './store.ts';
import { View } from './view.ts';

/** The parts and settings of a simulated client. */
export interface Making extends Surroundings {
  readonly plan: ClientPlan;
  readonly access: Access;
  /** Whether another process may resume the session of this client. */
  readonly mayMove: boolean;
}

/** The session and the unfinished program of a crashed process, for the process that resumes its session. */
interface Estate {
  readonly resumption: string;
  readonly left: Program;
}

/** One simulated process with a lock client, and the test program that acquires locks with it. */
export class Client {
  readonly name: string;
  readonly machine: Machine;
  /**
   * State of the process: `crashed` by a fault, `closed` when the `close` call of its lock client has
   * settled.
   */
  state: 'runs' | 'closing' | 'closed' | 'crashed' = 'runs';
  readonly #making: Making;
  readonly #program: Program;
  #connected: Connected | undefined;
  #client: LockClient | undefined;
  #view: View | undefined;
  #resumption: string | undefined;

  constructor(name: string, machine: Machine, making: Making) {
    this.name = name;
    this.machine = machine;
    this.#making = making;
    this.#program = new Program({ name, machine }, making);
  }

  get isBusy(): boolean {
    return this.state !== 'crashed' && (this.#program.running > 0 || this.state === 'closing');
  }

  /**
   * The view that this process has of the queue that it observes. `undefined` when the process observes no
   * queue or is not running.
   */
  get view(): View | undefined {
    return this.state === 'runs' ? this.#view : undefined;
  }

  /** Number of open connections to the store beyond those that the process needs. */
  get excess(): number {
    return this.#connected?.excess ?? 0;
  }

  /**
   * Starts the process. If `estate` is what a crashed process has left, the started process resumes its
   * session.
   */
  start(estate?: Estate): void {
    const { plan, mayMove, timeline, holds, judge } = this.#making;
    this.#program.running += estate ? 1 : plan.lanes.length;
    this.machine.do(() => {
      const client = (this.#client = this.#connect(estate));
      // Only holds are resumed: the waits of the crashed process ended with its calls.
      if (estate) void this.#program.goOn(client, estate.left).then(() => this.close());
      else plan.lanes.forEach((lane, i) => void this.#program.run(client, lane, 'xyz'[i] ?? ''));
      if (mayMove && !estate) void client.exportSession().then((text) => (this.#resumption = text), ignore);
      if (plan.watches !== undefined && !estate)
        this.#view = new View(client.watch(plan.watches), { queue: plan.watches, timeline, holds, judge });
    });
  }

  close(): void {
    if (this.state !== 'runs') return;
    this.state = 'closing';
    this.machine.do(() => {
      this.#making.judge.note(`${this.name} closes`);
      this.#program.stop();
      void (this.#client?.close() ?? Promise.resolve()).then(() => {
        this.#making.judge.note(`${this.name} is closed`);
        this.state = 'closed';
      });
    });
  }

  crash(): void {
    if (this.state === 'closed') return;
    this.#making.judge.note(`${this.name} crashes`);
    this.#making.judge.tell({ type: 'crashes', client: this.name });
    this.state = 'crashed';
    this.machine.crash();
    this.machine.isDead = true;
    this.#connected?.crash();
    this.#program.stop();
  }

  /** Crashes the process. Another process on `machine` resumes its session after `afterMs`. */
  move(machine: Machine, afterMs: number): Client | undefined {
    if (this.state !== 'runs') return undefined;
    this.crash();
    const resumption = this.#resumption;
    if (resumption === undefined) return undefined;
    const next = new Client(machine.name, machine, this.#making);
    next.#program.running += 1;
    machine.after(afterMs, () => {
      next.#program.running -= 1;
      // Starts the process that resumes the session, unless that process was closed or crashed during the
      // delay.
      if (next.state === 'runs') next.start({ resumption, left: this.#program });
    });
    return next;
  }

  #connect(estate: Estate | undefined): LockClient {
    const { product, plan, access } = this.#making;
    this.#connected = access.connect(this.machine, plan);
    return product.createLockClient(this.#connected.backend, {
      ttlMs: plan.ttlMs,
      clock: this.machine,
      owner: this.name,
      ...(estate ? { resume: estate.resumption } : {}),
    });
  }
}

function ignore(): void {
  // Ignores the error of exporting the session: the client was closed, or crashed, before it had a session to
  // export.
}
