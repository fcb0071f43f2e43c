import { setTimeout as pause } from 'node:timers/promises';
import type { Terms } from '@queuelock/harness/check/event';
import type { Aim, Attempt } from './worker-attempt.ts';
import type { WorkerCommand } from './worker-command.ts';

export type LoadCommand = Extract<WorkerCommand, { do: 'load' }>;

const AFTER_FAILURE_MS = 100;
const CANCEL_WITHIN_MS = 1_000;
const ABORT_WITHIN_MS = 3;

/** Joins random queues, one attempt after another, until it is stopped. */
export class Load {
  readonly #command: LoadCommand;
  readonly #chance: () => number;
  readonly #begin: (aim: Omit<Aim, 'n'>) => Attempt;
  readonly #stopped = new AbortController();

  constructor(command: LoadCommand, chance: () => number, begin: (aim: Omit<Aim, 'n'>) => Attempt) {
    this.#command = command;
    this.#chance = chance;
    this.#begin = begin;
  }

  async run(): Promise<void> {
    const { parallel = 1 } = this.#command;
    await Promise.all(Array.from({ length: parallel }, () => this.#repeat()));
  }

  /** Begins no new attempts. Holds in progress end now, and each later grant is released at once. */
  stop(): void {
    this.#stopped.abort();
  }

  async #repeat(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const held = await this.#once();
      if (!held) await pause(AFTER_FAILURE_MS * this.#chance());
    }
  }

  async #once(): Promise<boolean> {
    const { maxWaitMs } = this.#command;
    const attempt = this.#begin({ queues: this.#names(), terms: this.#terms() });
    const limitMs = this.#limitMs();
    // Counts a limit that all claims of the load have only from the entry in the queue on. Otherwise a worker
    // without a connection would begin and end claims all the time.
    if (limitMs === undefined && maxWaitMs !== undefined) await attempt.placed;
    const isHeld = await this.#withinWait(attempt, limitMs ?? maxWaitMs);
    if (isHeld) await this.#use(attempt);
    await attempt.release();
    await attempt.over;
    return isHeld;
  }

  async #use(attempt: Attempt): Promise<void> {
    const { holdMs, effectShare = 1, downgradeShare = 0 } = this.#command;
    const [least, most] = holdMs;
    const writes = this.#chance() < effectShare;
    const lastsMs = least + (most - least) * this.#chance();
    if (writes) await attempt.write();
    if (downgradeShare > 0 && this.#chance() < downgradeShare) {
      await this.#hold(lastsMs / 2);
      await attempt.downgrade();
      await this.#hold(lastsMs / 2);
      return;
    }
    await this.#hold(lastsMs);
    // Does not write after the load was stopped, because the worker may close its resources now.
    if (writes && !this.#stopped.signal.aborted) await attempt.write();
  }

  /** Resolves after `ms` milliseconds, or at once when the load is stopped. */
  async #hold(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
  }

  #names(): Aim['queues'] {
    const { queues, names = 1 } = this.#command;
    const left = [...queues];
    const drawn = Array.from({ length: names }, () => {
      const [name] = left.splice(Math.floor(this.#chance() * left.length), 1);
      return name!;
    });
    return drawn as [string, ...string[]];
  }

  /**
   * Draws the time in milliseconds within which the next claim is aborted, counted from its beginning;
   * `undefined` for most claims.
   */
  #limitMs(): number | undefined {
    const { cancelShare, abortShare } = this.#command;
    const dice = this.#chance();
    if (dice < abortShare) return ABORT_WITHIN_MS;
    return dice < abortShare + cancelShare ? CANCEL_WITHIN_MS : undefined;
  }

  #terms(): Terms {
    const { terms = {} } = this.#command;
    if (terms.permits === undefined) return terms;
    return { ...terms, permits: 1 + Math.floor(this.#chance() * terms.permits) };
  }

  async #withinWait(attempt: Attempt, maxWaitMs: number | undefined): Promise<boolean> {
    if (maxWaitMs === undefined) return (await attempt.granted) !== undefined;
    const timer = setTimeout(() => attempt.cancel(), maxWaitMs * this.#chance());
    const granted = await attempt.granted;
    clearTimeout(timer);
    return granted !== undefined;
  }
}
