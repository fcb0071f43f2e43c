import { randomUUID } from 'node:crypto';
import type { LockClient } from '@queuelock/core';
import { childEnvironment } from '../config/child-environment.ts';
import type { Environment } from '../config/file.ts';
import { EXIT } from '../exit-codes.ts';
import { KILL_MARGIN_MS } from './action.ts';
import { CommandProcess } from './child.ts';
import { guard, reasonOfLoss } from './guard.ts';
import { marking } from './marked.ts';
import { momentNow, ordersFor, type WatchdogTarget } from './orders.ts';
import type { Held, Work } from './term.ts';
import { Watchdog } from './watchdog.ts';

/** Options for a command that runs under a hold. */
export interface CommandPlan {
  readonly command: readonly string[];
  /** Grace period of the command: the time between SIGTERM and SIGKILL, in milliseconds. */
  readonly graceMs: number;
  /** What happens to the command when the hold is about to be lost. */
  readonly onLoss: 'stop' | 'continue';
  /** Variables to add to the environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the environment of the command contains this process's credentials for the store. */
  readonly passCredentials: boolean;
  readonly session$: LockClient['session$'];
  /** Prints a line for the user. */
  readonly note: (line: string) => void;
}

/** A command that runs once or repeatedly, each time under a hold. A watchdog process guards it. */
export class RunnableCommand {
  readonly #plan: CommandPlan;
  #watchdog: Watchdog | undefined;

  constructor(plan: CommandPlan) {
    this.#plan = plan;
  }

  /**
   * Starts the watchdog before the lock is granted, so that the command does not wait for the start. Does
   * nothing if a watchdog runs already, or if the command continues after a loss.
   */
  prepare(): void {
    if (this.#plan.onLoss === 'stop' && (!this.#watchdog || this.#watchdog.hasEnded))
      this.#watchdog = Watchdog.start();
  }

  /**
   * Runs the command under the hold. Resolves with the command's exit code, or with 75 when the hold was lost
   * before the command ended.
   */
  readonly work: Work = async (held, onSignal) => {
    const { command, graceMs, session$, note } = this.#plan;
    this.prepare();
    const watchdog = this.#watchdog;
    await watchdog?.ready();
    // Checks the remaining time in the same turn of the event loop that starts the program, so that no other
    // code delays the start.
    if (held.remainingMs <= KILL_MARGIN_MS) {
      note(`${reasonOfLoss(held)}; did not start the command`);
      return EXIT.lost;
    }
    const order = (quarry: WatchdogTarget): void => {
      const { remainingMs } = held;
      const situation = { remainingMs, suspect: false, graceMs, child: { state: 'running' } } as const;
      watchdog?.order(ordersFor(quarry, situation, momentNow()));
    };
    const mark = randomUUID();
    const env = { ...this.#environment(held), ...marking(mark) };
    // The command may already run before this process knows its process group. If this process is killed in
    // that moment, the watchdog finds the command by a variable in its environment.
    order({ mark });
    try {
      const child = await CommandProcess.start(command, env, (group) => order({ group }));
      onSignal((signal) => {
        child.signal(signal);
      });
      const end = watchdog
        ? await guard({ child, hold: held, session$, graceMs, watchdog, note })
        : await reportLoss(child, held, note);
      return end === 'stopped' ? EXIT.lost : await child.exited;
    } finally {
      watchdog?.order(undefined);
    }
  };

  close(): void {
    this.#watchdog?.close();
  }

  #environment({ name, token, key }: Held): Environment {
    const { env, passCredentials } = this.#plan;
    return {
      ...(passCredentials ? process.env : childEnvironment()),
      ...env,
      QUEUELOCK_NAME: name,
      QUEUELOCK_TOKEN: token.toString(),
      QUEUELOCK_KEY: key,
    };
  }
}

/**
 * Prints a message when the hold is lost, and lets the command continue. Resolves with `stopped` when the
 * hold was lost before the command ended, and with `exited` otherwise.
 */
async function reportLoss(
  child: CommandProcess,
  held: Held,
  note: CommandPlan['note'],
): Promise<'exited' | 'stopped'> {
  const report = (): void => {
    note('the lock is lost; the command continues, and only its fencing token can reject its writes');
  };
  // If the hold was lost while the command was started, the signal of the hold has aborted already and emits
  // no further event.
  if (held.signal.aborted) report();
  else held.signal.addEventListener('abort', report);
  await child.exited;
  held.signal.removeEventListener('abort', report);
  return held.remainingMs === 0 ? 'stopped' : 'exited';
}
