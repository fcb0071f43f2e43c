import type { LockClient, Ownership } from '@queuelock/core';
import { decide, type Action } from './action.ts';
import type { CommandProcess } from './child.ts';

export interface Guarded {
  readonly child: CommandProcess;
  readonly ownership: Ownership;
  readonly session$: LockClient['session$'];
  readonly graceMs: number;
  /** Tells the user, in a line. */
  readonly note: (line: string) => void;
}

/**
 * Ends the command before the lock can be lost. Settles when the command, and after a TERM its whole group, is gone:
 * `exited` by itself, or `stopped` by the guard.
 */
export function guard(guarded: Guarded): Promise<'exited' | 'stopped'> {
  return new Guard(guarded).watch();
}

const LOOK_AGAIN_MS = 20;

class Guard {
  readonly #guarded: Guarded;
  #doubtful = false;
  #termAt: number | undefined;
  #killed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(guarded: Guarded) {
    this.#guarded = guarded;
  }

  async watch(): Promise<'exited' | 'stopped'> {
    const { child, ownership, session$ } = this.#guarded;
    const look = (): void => {
      this.#look();
    };
    const hear = (doubtful: boolean): void => {
      this.#doubtful = doubtful;
      look();
    };
    const sessions = session$.subscribe({
      next: ({ status }) => {
        hear(status !== 'alive');
      },
      error: () => {
        hear(true);
      },
    });
    ownership.signal.addEventListener('abort', look);
    try {
      await child.exited;
      if (this.#stopping) await this.#groupGone();
    } finally {
      sessions.unsubscribe();
      ownership.signal.removeEventListener('abort', look);
      clearTimeout(this.#timer);
    }
    return this.#stopping ? 'stopped' : 'exited';
  }

  get #stopping(): boolean {
    return this.#killed || this.#termAt !== undefined;
  }

  #look(): void {
    clearTimeout(this.#timer);
    // Asking may find the end of the budget, which looks here by itself.
    const { remainingMs } = this.#guarded.ownership;
    if (this.#killed) return;
    const action = decide({
      remainingMs,
      doubtful: this.#doubtful,
      graceMs: this.#guarded.graceMs,
      child:
        this.#termAt === undefined
          ? { state: 'running' }
          : { state: 'terminating', sinceMs: performance.now() - this.#termAt },
    });
    this.#act(action);
  }

  #act(action: Action): void {
    const { child, note } = this.#guarded;
    if (action.do === 'wait') {
      this.#timer = setTimeout(() => {
        this.#look();
      }, action.ms);
    } else if (action.do === 'term') {
      this.#termAt = performance.now();
      child.signal('SIGTERM');
      note(
        'the server does not confirm the lock any more; asked the command to end (SIGTERM) before the lock can be lost',
      );
      this.#look();
    } else {
      this.#killed = true;
      child.signal('SIGKILL');
      note(`${this.#whyKilled()}; killed the command (SIGKILL)`);
    }
  }

  #whyKilled(): string {
    const { signal } = this.#guarded.ownership;
    const reason: unknown = signal.aborted ? signal.reason : undefined;
    return reason instanceof Error ? reason.message : 'the time for which the lock is proven is over';
  }

  /** The rest of the group has the rest of the grace period; the timer that kills is still set. */
  async #groupGone(): Promise<void> {
    while (!this.#killed && this.#guarded.child.alive) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}
