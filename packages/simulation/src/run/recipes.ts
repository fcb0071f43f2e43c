import type { LockClient, Ownership, SharedOwnership } from '@queuelock/core';
import type { Recipes } from '../product.ts';
import type { Machine } from '../timeline.ts';
import type { Agreements, InRound } from './agreements.ts';
import { LATCH_COUNT, LIMIT, RECIPES, ROUND_MEMBERS, type Step } from './plan.ts';

/** A step of a client that uses a recipe of @queuelock/recipes. */
export interface RecipeStep extends Step {
  readonly way: (typeof RECIPES)[number];
  readonly who: string;
}

/** A hold of one queue that a recipe granted. */
export type RecipeHold = SharedOwnership | Pick<Ownership, 'name' | 'id' | 'token' | 'held' | 'remainingMs'>;

/**
 * Returns whether the hold is an `Ownership` of an exclusive lock, and not a hold of a type that a recipe
 * defines.
 */
export function isWhole(hold: object): hold is Ownership {
  return 'downgrade' in hold;
}

/** The client that uses the recipes, and the function that simulates work during a hold. */
export interface User {
  readonly machine: Machine;
  readonly recipes: Recipes;
  readonly agreements: Agreements;
  /** Simulates work during a hold. Resolves after the time that the step states, or when the hold is lost. */
  readonly work: (step: RecipeStep, hold: RecipeHold) => Promise<void>;
  readonly pause: (ms: number) => Promise<void>;
}

interface Waiting {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

export function isRecipe<S extends Pick<Step, 'way'>>(step: S): step is S & Pick<RecipeStep, 'way'> {
  return (RECIPES as readonly string[]).includes(step.way);
}

/** Returns the name of the queue in which a step of a client adds its entry. */
export function queueOf({ way, queue }: Pick<RecipeStep, 'way' | 'queue'>): string {
  if (way === 'semaphore') return 'p';
  if (way === 'round' || way === 'latch') return way;
  return way === 'slot' ? `slots-${queue}` : queue;
}

/** Runs those steps of a simulated client that use recipes. */
export class RecipeUser {
  readonly #client: LockClient;
  readonly #user: User;
  readonly #cohorts = new Map<string, ReturnType<Recipes['cohort']>>();
  readonly #inRounds = new Set<InRound>();

  constructor(client: LockClient, user: User) {
    this.#client = client;
    this.#user = user;
  }

  /**
   * Marks the client as done in all its rounds of the double barrier, because its process has ended and
   * cannot finish them.
   */
  stop(): void {
    for (const place of this.#inRounds) place.isDone = true;
  }

  follow(step: RecipeStep, waiting: Waiting): Promise<void> {
    const ways = {
      campaign: () => this.#campaign(step, waiting),
      lead: () => this.#lead(step, waiting),
      cohort: () => this.#cohort(step, waiting),
      semaphore: () => this.#semaphore(step, waiting),
      round: () => this.#round(step, waiting),
      slot: () => this.#slot(step, waiting),
      latch: () => this.#latch(step, waiting),
    };
    return ways[step.way]();
  }

  async #campaign(step: RecipeStep, waiting: Waiting): Promise<void> {
    const { recipes, work } = this.#user;
    const election = recipes.election(this.#client, step.queue, { value: step.who });
    const leadership = await election.campaign(waiting);
    await work(step, leadership);
    await leadership.resign();
  }

  /** Takes part in an election by `lead`, and leads for several terms. */
  async #lead(step: RecipeStep, { timeoutMs = 0 }: Waiting): Promise<void> {
    const { recipes, work, machine, agreements } = this.#user;
    const over = new AbortController();
    const cancel = machine.after(timeoutMs, () => over.abort());
    const terms = { begun: 0, ended: 0 };
    try {
      const election = recipes.election(this.#client, step.queue, { value: step.who });
      await election.lead(
        async (leadership) => {
          agreements.leads(step.who, terms.begun === terms.ended);
          terms.begun += 1;
          await work({ ...step, who: `${step.who}.${terms.begun}` }, leadership);
          terms.ended += 1;
        },
        { signal: over.signal },
      );
    } finally {
      cancel();
    }
  }

  async #cohort(step: RecipeStep, waiting: Waiting): Promise<void> {
    const { recipes, work } = this.#user;
    const cohort = this.#cohorts.get(step.queue) ?? recipes.cohort(this.#client, step.queue);
    this.#cohorts.set(step.queue, cohort);
    const hold = await cohort.acquire(waiting);
    await work(step, hold);
    await hold.release();
  }

  async #semaphore(step: RecipeStep, waiting: Waiting): Promise<void> {
    const { recipes, work } = this.#user;
    const semaphore = recipes.semaphore(this.#client, 'p', { limit: LIMIT });
    const hold = await semaphore.acquire({ ...waiting, permits: step.permits });
    await work(step, hold);
    await hold.release();
  }

  async #round(step: RecipeStep, waiting: Waiting): Promise<void> {
    const { recipes, machine, agreements, pause } = this.#user;
    const queue = queueOf(step);
    const barrier = recipes.doubleBarrier(this.#client, queue, { members: ROUND_MEMBERS });
    agreements.arrives();
    const { round, index, signal, leave } = await barrier.enter(waiting);
    const { who } = step;
    const place: InRound = {
      ...{ who, machine, queue, round, index, isDone: false },
      isLost: () => signal.aborted,
    };
    this.#inRounds.add(place);
    agreements.roundBegins(place);
    await pause(step.holdMs);
    place.isDone = true;
    this.#inRounds.delete(place);
    await leave(waiting);
    agreements.roundEnds(place);
  }

  /**
   * Runs one slot of a job by `oncePer`. If the step's queue is `a`, the slot runs at most once. With any
   * other queue, it runs again until its work has returned.
   */
  async #slot(step: RecipeStep, waiting: Waiting): Promise<void> {
    const { recipes, work, agreements } = this.#user;
    const { who } = step;
    const name = queueOf(step);
    const mayRepeat = step.queue !== 'a';
    const guarantee = mayRepeat ? 'at-least-once' : 'at-most-once';
    const slots = recipes.oncePer(this.#client, name, { guarantee, owner: who });
    const slot = `${step.permits} of ${name}`;
    const reported = { mayRepeat, who };
    const { outcome } = await slots.run(
      step.permits,
      async (ownership) => {
        agreements.slotBegins(slot, reported);
        await work(step, ownership);
        agreements.slotReturns(slot);
      },
      waiting,
    );
    if (outcome === 'already-done') agreements.slotIsPast(slot, reported);
  }

  async #latch({ who, holdMs }: RecipeStep, waiting: Waiting): Promise<void> {
    const { recipes, agreements, pause } = this.#user;
    const latch = recipes.latch(this.#client, 'latch');
    if (await latch.trySetCount(LATCH_COUNT)) agreements.latchIsSet(who);
    await pause(holdMs);
    agreements.countsDown();
    await latch.countDown();
    await latch.wait(waiting);
    agreements.latchOpens(who);
  }
}
