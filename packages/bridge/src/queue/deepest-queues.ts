import type { Clock, ListedQueue, LockClient, QueueState, QueuesState } from '@queuelock/core';
import { follow } from '../follow.ts';
import { Observable, Subscription } from '../rx.ts';
import type { ListView } from './list-view.ts';
import type { NameBudget } from './name-budget.ts';

/** A list of queues, with the states of the queues in it that have the most entries. */
export interface DeepQueues {
  readonly list: QueuesState;
  /** States of the queues that are watched. */
  readonly queues: readonly QueueState[];
  /** Number of queues that are not watched because of a limit. */
  readonly omitted: number;
}

/** Settings of an overview: which queues it watches, and how often it emits their states. */
export interface DeepSettings {
  readonly client: Pick<LockClient, 'watch'>;
  readonly clock: Clock;
  /**
   * The limit on the number of queues that all overviews (topics about many queues) of a bridge watch
   * together.
   */
  readonly names: NameBudget;
  /** Least number of entries of a watched queue. */
  readonly minDepth: number;
  /** Largest number of watched queues; those with the most entries are chosen. */
  readonly max: number;
  /**
   * Shortest interval between two emissions of an overview in milliseconds. It is needed because many queues
   * change often.
   */
  readonly everyMs: number;
  /**
   * Returns whether the overview emits again after the interval although no queue has changed. Default:
   * never.
   */
  readonly again?: () => boolean;
}

/**
 * Largest total number of entries in the watched queues of one overview. It limits the time for computing the
 * overview.
 */
const MAX_ENTRIES = 20_000;

/**
 * Emits the states of the queues in a list that have the most entries. A queue that stays among these is not
 * watched anew. Closes `view`, the list, when the subscription ends.
 */
export function watchDeepest(view: ListView, settings: DeepSettings): Observable<DeepQueues> {
  return new Observable((subscriber) => {
    const { clock, everyMs, again } = settings;
    const watches = new DeepWatches(settings);
    let [isKnown, isListNew, omitted] = [false, false, 0];
    let cancel = clock.after(everyMs, tick);
    function update(): void {
      isListNew = false;
      omitted = watches.choose(view.state.queues);
    }
    function tick(): void {
      cancel = clock.after(everyMs, tick);
      if (isListNew) update();
      if (!isKnown || !(watches.takeChange() || again?.())) return;
      subscriber.next({ list: view.state, queues: watches.states, omitted });
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

/** The queues that one overview watches. */
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

  /**
   * Returns whether the overview's choice of queues, or the state of one of them, has changed since the last
   * call.
   */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  /**
   * Chooses the queues with the most entries, begins to watch the new ones, and stops watching all others.
   * Returns how many queues are not watched because of a limit.
   */
  choose(queues: readonly ListedQueue[]): number {
    this.#hasChanged = true;
    const [names, others] = deepestOf(queues, this.#settings);
    for (const name of this.#watches.keys()) if (!names.has(name)) this.#unwatch(name);
    let omitted = others;
    for (const name of names) if (!this.#watches.has(name) && !this.#watch(name)) omitted += 1;
    return omitted;
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
  { minDepth, max }: DeepSettings,
): [ReadonlySet<string>, number] {
  const deep = queues.filter(({ depth }) => depth >= minDepth).sort((a, b) => b.depth - a.depth);
  const names = new Set<string>();
  let entries = 0;
  for (const { name, depth } of deep) {
    if (names.size >= max) break;
    if (entries + depth > MAX_ENTRIES) continue;
    entries += depth;
    names.add(name);
  }
  return [names, deep.length - names.size];
}
