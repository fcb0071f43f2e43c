import { randomUUID } from 'node:crypto';
import type { LockClient } from '@queuelock/core';
import { childEnvironment } from '../config/child-environment.ts';
import type { Environment } from '../config/file.ts';
import { EXIT } from '../exit-codes.ts';
import { KILL_MARGIN_MS } from './action.ts';
import { CommandProcess } from './child.ts';
import { guard } from './guard.ts';
import { marking } from './marked.ts';
import { momentNow, ordersFor, type Quarry } from './orders.ts';
import type { Held, Work } from './term.ts';
import { Watchdog } from './watchdog.ts';

/** How a command is run under what is held. */
export interface CommandPlan {
  readonly command: readonly string[];
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly graceMs: number;
  /** What happens to the command when the hold is about to be lost. */
  readonly onLoss: 'stop' | 'continue';
  /** More for its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether its environment has what this process logs in to the store with. */
  readonly passCredentials: boolean;
  readonly session$: LockClient['session$'];
  /** Tells the user, in a line. */
  readonly note: (line: string) => void;
}

/** A command that can be run once or again and again, with the watchdog that it needs. */
export class RunnableCommand {
  readonly #plan: CommandPlan;
  #watchdog: Watchdog | undefined;

  constructor(plan: CommandPlan) {
    this.#plan = plan;
  }

  /** Starts the watchdog if need be, so that it is there when the turn comes. */
  prepare(): void {
    if (this.#plan.onLoss === 'stop' && (!this.#watchdog || this.#watchdog.gone))
      this.#watchdog = Watchdog.start();
  }

  /** Runs the command: its own exit code, or 75 when the hold was lost before it had ended. */
  readonly work: Work = async (held, onSignal) => {
    const { command, graceMs, session$, note } = this.#plan;
    this.prepare();
    const watchdog = this.#watchdog;
    await watchdog?.ready();
    // From here to the start of the program nothing else happens to this process.
    if (held.remainingMs <= KILL_MARGIN_MS) return EXIT.lost;
    const order = (quarry: Quarry): void => {
      const { remainingMs } = held;
      const situation = { remainingMs, suspect: false, graceMs, child: { state: 'running' } } as const;
      watchdog?.order(ordersFor(quarry, situation, momentNow()));
    };
    const mark = randomUUID();
    const env = { ...this.#environment(held), ...marking(mark) };
    // The command may run before its number is known here, and this process may be killed in between.
    order({ mark });
    try {
      const child = await CommandProcess.start(command, env, (group) => order({ group }));
      onSignal((signal) => {
        child.signal(signal);
      });
      const end = watchdog
        ? await guard({ child, hold: held, session$, graceMs, watchdog, note })
        : await tellOfLoss(child, held, note);
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

/** The command goes on whatever happens; `stopped` when the hold was lost meanwhile. */
async function tellOfLoss(
  child: CommandProcess,
  held: Held,
  note: CommandPlan['note'],
): Promise<'exited' | 'stopped'> {
  const tell = (): void => {
    note('the lock is lost; the command goes on, and only its fencing token keeps its writes out');
  };
  held.signal.addEventListener('abort', tell);
  await child.exited;
  held.signal.removeEventListener('abort', tell);
  return held.remainingMs === 0 ? 'stopped' : 'exited';
}
