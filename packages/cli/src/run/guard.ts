import type { Hold, LockClient } from '@queuelock/core';
import { decide, type Action, type Situation } from './action.ts';
import type { CommandProcess } from './child.ts';
import { momentNow, ordersFor } from './orders.ts';
import type { Watchdog } from './watchdog.ts';

export interface Guarded {
  readonly child: CommandProcess;
  readonly hold: Pick<Hold, 'signal' | 'remainingMs'>;
  readonly session$: LockClient['session$'];
  readonly graceMs: number;
  /** The watchdog process, which ends the command when this process is frozen or killed. */
  readonly watchdog: Watchdog;
  /** Prints a line for the user. */
  readonly note: (line: string) => void;
}

/**
 * Ends the command before the lock can be lost. Resolves when the command has ended; after SIGTERM, when its
 * whole process group has ended. `exited` means that the command ended by itself while the lock was held.
 * `stopped` means that the guard ended the command, or that the lock may have been lost before the command
 * ended.
 */
export function guard(guarded: Guarded): Promise<'exited' | 'stopped'> {
  return new Guard(guarded).watch();
}

const CHECK_AGAIN_MS = 20;
// Longest time in milliseconds between two checks of the hold. At each check the watchdog gets new orders. So
// it learns of each heartbeat soon, and soon detects a frozen guard.
const MAX_CHECK_INTERVAL_MS = 250;

class Guard {
  readonly #guarded: Guarded;
  #suspect = false;
  #termAt: number | undefined;
  #killed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(guarded: Guarded) {
    this.#guarded = guarded;
  }

  async watch(): Promise<'exited' | 'stopped'> {
    const { child, hold, session$ } = this.#guarded;
    const check = (): void => {
      this.#check();
    };
    const onChange = (suspect: boolean): void => {
      this.#suspect = suspect;
      check();
    };
    const sessions = session$.subscribe({
      next: ({ status }) => {
        onChange(status !== 'alive');
      },
      error: () => {
        onChange(true);
      },
    });
    hold.signal.addEventListener('abort', check);
    try {
      await child.exited;
      if (this.#stopping) await this.#groupEnded();
      // If the guard was frozen (SIGSTOP) until the hold ended, it cannot know when the command ended. The
      // watchdog may have ended it, so the result is `stopped`.
      return this.#stopping || hold.remainingMs === 0 ? 'stopped' : 'exited';
    } finally {
      sessions.unsubscribe();
      hold.signal.removeEventListener('abort', check);
      clearTimeout(this.#timer);
    }
  }

  get #stopping(): boolean {
    return this.#killed || this.#termAt !== undefined;
  }

  #check(): void {
    clearTimeout(this.#timer);
    const situation = this.#situation();
    // Reading the remaining time may detect that the hold has ended. The hold's signal then aborts and calls
    // this function again, and that inner call may already have killed the command.
    if (this.#killed) return;
    const { child, watchdog } = this.#guarded;
    const action = decide(situation);
    if (action.do !== 'kill') watchdog.order(ordersFor({ group: child.group }, situation, momentNow()));
    this.#act(action);
  }

  #situation(): Situation {
    const { hold, graceMs } = this.#guarded;
    return {
      remainingMs: hold.remainingMs,
      suspect: this.#suspect,
      graceMs,
      child:
        this.#termAt === undefined
          ? { state: 'running' }
          : { state: 'terminating', sinceMs: performance.now() - this.#termAt },
    };
  }

  #act(action: Action): void {
    const { child, note } = this.#guarded;
    if (action.do === 'wait') {
      this.#timer = setTimeout(
        () => {
          this.#check();
        },
        Math.min(action.ms, MAX_CHECK_INTERVAL_MS),
      );
    } else if (action.do === 'term') {
      this.#termAt = performance.now();
      child.signal('SIGTERM');
      note('the server no longer confirms the lock; sent SIGTERM to the command before the lock can be lost');
      this.#check();
    } else {
      this.#killed = true;
      child.signal('SIGKILL');
      note(`${reasonOfLoss(this.#guarded.hold)}; killed the command (SIGKILL)`);
    }
  }

  /**
   * Waits until all processes of the group have ended. Gives up at the end of the grace period, when a timer
   * sends SIGKILL.
   */
  async #groupEnded(): Promise<void> {
    while (!this.#killed && this.#guarded.child.alive) {
      await new Promise((resolve) => setTimeout(resolve, CHECK_AGAIN_MS));
    }
  }
}

/** Returns the reason why a hold has ended, or is about to end. */
export function reasonOfLoss({ signal }: Pick<Hold, 'signal'>): string {
  const reason: unknown = signal.aborted ? signal.reason : undefined;
  return reason instanceof Error ? reason.message : 'the time for which the lock is proven has ended';
}
