import type { LockClient } from '@queuelock/core';
import type { Surroundings } from './program.ts';

type QueueState = Parameters<Parameters<ReturnType<LockClient['watch']>['forEach']>[0]>[0];

interface Sights extends Pick<Surroundings, 'timeline' | 'judge' | 'holds'> {
  readonly queue: string;
}

/** What a client sees of a queue: always one that there was, in its order, none that is older than what it saw before. */
export class View {
  readonly queue: string;
  readonly #around: Sights;
  #latest: QueueState | undefined;
  #since = 1;

  constructor(state$: ReturnType<LockClient['watch']>, around: Sights) {
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

  /** Whether it shows what there is now. */
  get isRight(): boolean {
    const { holds, queue } = this.#around;
    return this.#latest?.status === 'live' && textOf(this.#latest) === textAt(holds, queue);
  }

  #check(state: QueueState): void {
    const { holds, judge, queue } = this.#around;
    const { keyspace } = holds.store;
    const seen = textOf(state);
    // What it was then is not known any more.
    if (keyspace.compacted > 0) return;
    let at = this.#since;
    while (at <= keyspace.revision && textAt(holds, queue, at) !== seen) at += 1;
    judge.require('view', at <= keyspace.revision, () => `${queue} is shown as ${seen}`);
    this.#since = at;
  }
}

function textOf({ entries }: QueueState): string {
  return entries.map(({ key, order }) => `${key} ${order}`).join(', ');
}

function textAt({ store }: Sights['holds'], queue: string, revision?: number): string {
  const rows = store.keyspace.rows({ key: `${queue}/`, end: `${queue}0` }, revision);
  const byOrder = rows.sort((one, other) => one.create - other.create);
  return byOrder.map(({ key, create }) => `${key} ${create}`).join(', ');
}
