import type { LockClient, QueueState, QueuesState } from '@queuelock/core';
import { follow } from '../follow.ts';
import { Observable, Subscription } from '../rx.ts';

/** What is known of the deepest queues of a list. */
export interface DeepQueues {
  readonly list: QueuesState;
  /** Of those that were looked into. */
  readonly queues: readonly QueueState[];
  /** How many were not looked into for lack of room. */
  readonly left: number;
}

/** Which queues are looked into. */
export interface DeepSettings {
  /** Entries that a queue has at least. */
  readonly minDepth: number;
  /** Queues at most: the deepest. */
  readonly most: number;
}

/** Looks into the deepest queues of a list: each that stays among them is watched on. */
export function watchDeepest(
  client: Pick<LockClient, 'watch'>,
  list$: Observable<QueuesState>,
  settings: DeepSettings,
): Observable<DeepQueues> {
  return new Observable((subscriber) => {
    const watches = new Map<string, Subscription>();
    const states = new Map<string, QueueState>();
    let list: QueuesState = { status: 'connecting', queues: [] };
    let left = 0;
    function tell(): void {
      subscriber.next({ list, queues: [...states.values()], left });
    }
    function unwatch(name: string): void {
      watches.get(name)?.unsubscribe();
      watches.delete(name);
      states.delete(name);
    }
    function watch(name: string): void {
      const watching = new Subscription();
      watches.set(name, watching);
      watching.add(
        follow(client.watch(name), (state) => {
          states.set(name, state);
          tell();
        }),
      );
    }
    subscriber.add(() => {
      for (const watching of watches.values()) watching.unsubscribe();
    });
    subscriber.add(
      follow(list$, (now) => {
        list = now;
        const [names, others] = deepestOf(now, settings);
        left = others;
        for (const name of [...watches.keys()]) if (!names.has(name)) unwatch(name);
        for (const name of names) if (!watches.has(name)) watch(name);
        tell();
      }),
    );
  });
}

function deepestOf({ queues }: QueuesState, { minDepth, most }: DeepSettings): [ReadonlySet<string>, number] {
  const deep = queues.filter(({ depth }) => depth >= minDepth).sort((a, b) => b.depth - a.depth);
  return [new Set(deep.slice(0, most).map(({ name }) => name)), Math.max(0, deep.length - most)];
}
