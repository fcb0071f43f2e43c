import type { BridgeClient, JoinOptions, JoinState } from '@queuelock/bridge/client';
import type { Unsubscribable } from 'rxjs';
import { unforeseen } from './shared-streams.ts';

/** What a component does at a queue: nothing, or what the state of its join says. */
export type LockState = { readonly status: 'idle' } | JoinState;

export const IDLE: LockState = { status: 'idle' };

/** One component's place at one queue. Is left when the component has gone, and a name or client that changed means another place. */
export class Place {
  readonly client: BridgeClient;
  readonly name: string;
  /** What the next join is made with. */
  options: JoinOptions | undefined;
  readonly #listeners = new Set<() => void>();
  #state = IDLE;
  #joined: Unsubscribable | undefined;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(client: BridgeClient, name: string) {
    this.client = client;
    this.name = name;
  }

  readonly state = (): LockState => this.#state;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    clearTimeout(this.#leaving);
    return () => {
      this.#listeners.delete(listener);
      this.#leaveUnlessHeard();
    };
  };

  readonly join = (): void => {
    if (this.#joined) return;
    const joined = this.client.join(this.name, this.options).subscribe({
      next: (state) => {
        this.#set(state);
      },
      error: unforeseen,
      complete: () => {
        this.#joined = undefined;
      },
    });
    if (!joined.closed) this.#joined = joined;
    this.#leaveUnlessHeard();
  };

  readonly leave = (): void => {
    this.#joined?.unsubscribe();
    this.#joined = undefined;
    this.#set(IDLE);
  };

  /**
   * Leaves soon if nobody listens: not at once, since StrictMode lets go of what it keeps, and since effects of children, which may
   * join, come before the listening of their parents.
   */
  #leaveUnlessHeard(): void {
    clearTimeout(this.#leaving);
    if (this.#listeners.size === 0) this.#leaving = setTimeout(this.leave);
  }

  #set(state: LockState): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) listener();
  }
}
