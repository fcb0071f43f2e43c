import type { BridgeClient, JoinOptions, JoinState } from '@queuelock/bridge/client';
import type { Unsubscribable } from 'rxjs';
import { throwUncaught } from './shared-streams.ts';

/** The state of a component's join to a queue: `idle` without a join, otherwise as the bridge reports it. */
export type LockState = { readonly status: 'idle' } | JoinState;

export const IDLE: LockState = { status: 'idle' };

/**
 * The join of one component to one queue. The join ends when the component unmounts. When the component
 * changes its name or client, the hook creates another `ComponentJoin`.
 */
export class ComponentJoin {
  readonly client: BridgeClient;
  readonly name: string;
  /** Options with which the next call of `join` joins the queue. */
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
      this.#leaveWithoutListener();
    };
  };

  readonly join = (): void => {
    if (this.#joined) return;
    const joined = this.client.join(this.name, this.options).subscribe({
      next: (state) => {
        this.#set(state);
      },
      error: throwUncaught,
      complete: () => {
        this.#joined = undefined;
      },
    });
    if (!joined.closed) this.#joined = joined;
    this.#leaveWithoutListener();
  };

  readonly leave = (): void => {
    this.#joined?.unsubscribe();
    this.#joined = undefined;
    this.#set(IDLE);
  };

  /**
   * Leaves the queue after a short delay, unless the component listens to the state of the join by then.
   * Leaving at once would be wrong for two reasons: React's StrictMode unsubscribes and subscribes again, and
   * effects of child components may join before the parent subscribes.
   */
  #leaveWithoutListener(): void {
    clearTimeout(this.#leaving);
    if (this.#listeners.size === 0) this.#leaving = setTimeout(this.leave);
  }

  #set(state: LockState): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) listener();
  }
}
