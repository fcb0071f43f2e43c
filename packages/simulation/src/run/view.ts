import type { LockClient } from '@queuelock/core';
import type { Surroundings } from './surroundings.ts';

type QueueState = Parameters<Parameters<ReturnType<LockClient['watch']>['forEach']>[0]>[0];

interface ViewTools extends Pick<Surroundings, 'timeline' | 'judge' | 'holds'> {
  readonly queue: string;
}

/**
 * Checks the states of a queue that a client observes. Each state must have existed in the store, and must
 * not be older than the one observed before.
 */
export class View {
  readonly queue: string;
  readonly #around: ViewTools;
  #latest: QueueState | undefined;
  #since = 0;

  constructor(state$: ReturnType<LockClient['watch']>, around: ViewTools) {
    this.queue = around.queue;
    this.#around = around;
    state$.subscribe({
      next: (state) => {
        this.#latest = state;
        if (state.status === 'live') this.#check(state);
      },
      error: (error: unknown) => around.judge.require('view', false, () => `it errors: ${String(error)}`),
    });
  }

  /** Whether the client observes the present state of the queue. */
  get isRight(): boolean {
    const { holds, queue } = this.#around;
    return this.#latest?.status === 'live' && textOf(this.#latest) === holds.store.shown(queue);
  }

  #check(state: QueueState): void {
    const { holds, judge, queue } = this.#around;
    const seen = textOf(state);
    const at = holds.store.shownAt(queue, seen, this.#since);
    judge.require('view', at !== undefined, () => `${queue} is shown as ${seen}`);
    this.#since = at ?? this.#since;
  }
}

function textOf({ entries }: QueueState): string {
  return entries.map(({ key, order }) => `${key} ${order}`).join(', ');
}
