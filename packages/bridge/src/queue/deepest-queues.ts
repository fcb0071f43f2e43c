import type { Clock, ListedQueue, LockClient, QueueState, QueuesState } from '@queuelock/core';
import { follow } from '../follow.ts';
import { Observable, Subscription } from '../rx.ts';
import type { ListView } from './list-view.ts';
import type { NameBudget } from './name-budget.ts';

/** What is known of the deepest queues of a list. */
export interface DeepQueues {
  readonly list: QueuesState;
  /** Of those that were looked into. */
  readonly queues: readonly QueueState[];
  /** How many were not looked into for lack of room. */
  readonly left: number;
}

/** Which queues are looked into, and how often. */
export interface DeepSettings {
  readonly client: Pick<LockClient, 'watch'>;
  readonly clock: Clock;
  /** The queues that all such looks of a bridge watch. */
  readonly names: NameBudget;
  /** Entries that a queue has at least. */
  readonly minDepth: number;
  /** Queues at most: the deepest. */
  readonly most: number;
  /** Between two values at least: many queues change often. */
  readonly everyMs: number;
  /** Whether the same value is to be emitted again although there is no newer one. Default: never. */
  readonly again?: () => boolean;
}

/** Entries in all queues that are looked into at most: what is made of them takes its time. */
const MAX_ENTRIES = 20_000;

/** Looks into the deepest queues of a list: each that stays among them is watched on. Closes the view with the last subscription. */
export function watchDeepest(view: ListView, settings: DeepSettings): Observable<DeepQueues> {
  return new Observable((subscriber) => {
    const { clock, everyMs, again } = settings;
    const watches = new DeepWatches(settings);
    let [isKnown, isListNew, left] = [false, false, 0];
    let cancel = clock.after(everyMs, tick);
    function update(): void {
      isListNew = false;
      left = watches.choose(view.state.queues);
    }
    function tick(): void {
      cancel = clock.after(everyMs, tick);
      if (isListNew) update();
      if (!isKnown || !(watches.takeChange() || again?.())) return;
      subscriber.next({ list: view.state, queues: watches.states, left });
    }
    subscriber.add(() => {
      cancel();
      watches.close();
      view.close();
    });
    subscriber.add(
      follow(view.changed$, () => {
        isListNew = true;
        if (!isKnown) update();
        isKnown = true;
      }),
    );
  });
}

/** The queues that one look watches. */
class DeepWatches {
  readonly #settings: DeepSettings;
  readonly #watches = new Map<string, Subscription>();
  readonly #states = new Map<string, QueueState>();
  #hasChanged = false;

  constructor(settings: DeepSettings) {
    this.#settings = settings;
  }

  get states(): readonly QueueState[] {
    return [...this.#states.values()];
  }

  /** Whether anything has changed since the last call. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  /** Returns how many of them are not watched. */
  choose(queues: readonly ListedQueue[]): number {
    this.#hasChanged = true;
    const [names, others] = deepestOf(queues, this.#settings);
    for (const name of this.#watches.keys()) if (!names.has(name)) this.#unwatch(name);
    let left = others;
    for (const name of names) if (!this.#watches.has(name) && !this.#watch(name)) left += 1;
    return left;
  }

  close(): void {
    for (const name of this.#watches.keys()) this.#unwatch(name);
  }

  #watch(name: string): boolean {
    const release = this.#settings.names.take(name);
    if (!release) return false;
    const watching = new Subscription(release);
    this.#watches.set(name, watching);
    watching.add(
      follow(this.#settings.client.watch(name), (state) => {
        this.#states.set(name, state);
        this.#hasChanged = true;
      }),
    );
    return true;
  }

  #unwatch(name: string): void {
    this.#watches.get(name)?.unsubscribe();
    this.#watches.delete(name);
    this.#states.delete(name);
  }
}

function deepestOf(
  queues: readonly ListedQueue[],
  { minDepth, most }: DeepSettings,
): [ReadonlySet<string>, number] {
  const deep = queues.filter(({ depth }) => depth >= minDepth).sort((a, b) => b.depth - a.depth);
  const names = new Set<string>();
  let entries = 0;
  for (const { name, depth } of deep) {
    if (names.size >= most) break;
    if (entries + depth > MAX_ENTRIES) continue;
    entries += depth;
    names.add(name);
  }
  return [names, deep.length - names.size];
}
