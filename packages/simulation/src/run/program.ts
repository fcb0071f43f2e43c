import { isQueueLockError } from '@queuelock/core';
import type { AcquireOptions, LockClient, MultiOwnership, Ownership, SharedOwnership } from '@queuelock/core';
import type { Machine } from '../timeline.ts';
import { requestHold, queuesOf } from './hold-request.ts';
import type { Circumstances } from './endings.ts';
import { heldOf, type Held } from './held.ts';
import type { Step } from './plan.ts';
import { resumeHold } from './resume-hold.ts';
import type { Surroundings } from './surroundings.ts';
import { RecipeUser, isRecipe, isWhole, type RecipeHold } from './recipes.ts';

// Time limit in milliseconds for resuming a hold. It is longer than any fault.
const RESUMED_WITHIN_MS = 60_000;
// While a queue has no holder, a waiter must be granted within this many milliseconds, which is longer than
// any TTL of a dead predecessor.
const IN_VAIN_MS = 30_000;
// A store without faults replies to a client's first acquisition of a lock within this many milliseconds.
const RESPONSES_WITHIN_MS = 300;

interface Hold {
  readonly step: Step;
  readonly held: readonly Held[];
  readonly ownership: RecipeHold | MultiOwnership;
}

/**
 * The program of a simulated process. It acquires and releases locks as its lists of steps say. The lists run
 * at the same time.
 */
export class Program {
  /** Number of lists of steps of the simulated client that are still running. */
  running = 0;
  readonly #name: string;
  readonly #machine: Machine;
  readonly #around: Surroundings;
  readonly #present = new Set<Hold>();
  /** Holds that are being released, without a response of the store so far. */
  readonly #leaving = new Set<Hold>();
  #recipes: RecipeUser | undefined;
  #isStopped = false;

  constructor({ name, machine }: { readonly name: string; readonly machine: Machine }, around: Surroundings) {
    this.#name = name;
    this.#machine = machine;
    this.#around = around;
  }

  /** Stops the program when its process crashes. From then on, all its holds count as ended. */
  stop(): void {
    this.#isStopped = true;
    this.#recipes?.stop();
    for (const { held } of this.#present) held.forEach((one) => this.#around.holds.end(one, 'client gone'));
  }

  async run(client: LockClient, lane: readonly Step[], suffix: string): Promise<void> {
    let number = 0;
    for (const step of lane) {
      number += 1;
      await this.#pause(step.afterMs);
      if (this.#isStopped) break;
      await this.#do(client, { ...step, who: `${this.#name}${suffix}${number}` });
    }
    this.running -= 1;
  }

  /** Resumes the holds of a crashed process, also those that it was releasing, and releases them later. */
  async goOn(client: LockClient, left: Program): Promise<void> {
    const places = [...left.#present, ...left.#leaving].flatMap(({ step, held, ownership }) =>
      'of' in ownership ? [] : held.map((one) => ({ step, held: one, id: ownership.id })),
    );
    const resumed = places.map(({ step, held, id }, i) => {
      const waits = { way: 'resume' as const, waitTimeoutMs: RESUMED_WITHIN_MS, minRemainingMs: 0 };
      const again = { ...step, queue: held.queue, ...waits, who: `${this.#name}r${i}` };
      return this.#do(client, again, (options) => resumeHold(client, held, { ...options, id }));
    });
    await Promise.all(resumed);
    this.running -= 1;
  }

  async #do(
    client: LockClient,
    { who, ...step }: Step & { readonly who: string },
    request = (options: AcquireOptions) => requestHold(client, step, { options, ...this.#around }),
  ): Promise<void> {
    const { judge } = this.#around;
    const aborting = new AbortController();
    const reason = new Error('aborted');
    const queues = queuesOf(step, this.#around);
    judge.note(
      `${who} wants ${step.way} ${step.way === 'permits' ? `${step.permits} of p` : queues.join(', ')}`,
    );
    judge.tell({ type: 'wants', who, client: this.#name, queues });
    const cancel =
      step.way === 'abort'
        ? this.#machine.after(step.waitTimeoutMs ?? 0, () => aborting.abort(reason))
        : () => undefined;
    const { minRemainingMs } = step;
    const waitLimit = step.way === 'abort' ? undefined : step.waitTimeoutMs;
    const options = {
      signal: aborting.signal,
      ...(waitLimit === undefined ? {} : { timeoutMs: waitLimit }),
      ...(minRemainingMs > 0 ? { minRemainingMs } : {}),
    };
    try {
      if (isRecipe(step)) await this.#recipesOf(client).follow({ ...step, who }, options);
      else if (step.way === 'claim') await this.#claim(client, step, who);
      else if (step.way === 'run')
        await client.run(step.queue, (ownership) => this.#work(this.#begin(step, who, ownership)), options);
      else await this.#use(step, who, await request(options));
    } catch (error) {
      judge.ended(who, error, { abort: reason, ...this.#circumstancesOf(step) });
      const isInVain = step.way === 'resume' && isQueueLockError(error, 'TIMEOUT') && this.#isInVain(step);
      judge.require('progress', !isInVain, () => `${who} waits for a place that it has`);
    } finally {
      cancel();
    }
  }

  async #use(
    step: Step,
    who: string,
    ownership: Ownership | SharedOwnership | MultiOwnership | undefined,
  ): Promise<void> {
    const { judge } = this.#around;
    if (!ownership) {
      judge.note(`${who} finds it busy`);
      judge.tell({ type: 'gets nothing', who, why: 'busy' });
      return;
    }
    const hold = this.#begin(step, who, ownership);
    await this.#work(hold);
    this.#leaving.add(hold);
    await ownership.release();
    this.#leaving.delete(hold);
    judge.note(`${who} has released`);
  }

  async #work(hold: Hold): Promise<void> {
    const { step, held, ownership } = hold;
    const { judge, holds } = this.#around;
    const who = held[0]?.who ?? '';
    await this.#pause(step.holdMs / 2);
    const changed = (error: unknown): void => judge.ended(who, error, this.#circumstancesOf(step));
    if (step.way === 'downgrade' && isWhole(ownership)) {
      held.forEach((one) => holds.share(one));
      const confirmed = (): void => held.forEach((one) => (one.isDowngrading = false));
      await ownership.downgrade().then(confirmed, changed);
    }
    if (step.way === 'update' && isWhole(ownership))
      await ownership.update({ metadata: { half: 'done' } }).catch(changed);
    await this.#pause(step.holdMs / 2);
    const isHeld = ownership.held;
    if (isHeld) this.#write(hold, step.guardMs ?? 0);
    judge.note(`${who} ${isHeld ? 'releases' : 'has lost it'}`);
    held.forEach((one) => holds.end(one, isHeld ? 'released' : 'lost'));
    this.#present.delete(hold);
  }

  #recipesOf(client: LockClient): RecipeUser {
    this.#recipes ??= new RecipeUser(client, {
      machine: this.#machine,
      agreements: this.#around.agreements,
      recipes: this.#around.product.recipes,
      work: ({ who, ...step }, hold) => this.#work(this.#begin(step, who, hold)),
      pause: (ms) => this.#pause(ms),
    });
    return this.#recipes;
  }

  #begin(step: Step, who: string, ownership: RecipeHold | MultiOwnership): Hold {
    const singles = 'of' in ownership ? ownership.names.map((name) => ownership.of(name)) : [ownership];
    const { holds, judge } = this.#around;
    const user = { who, machine: this.#machine, isOver: this.#isStopped, permits: step.permits };
    const held = singles.map((one) => heldOf(one, { ...user, key: holds.keyOf(one.name, one.token) }));
    judge.require(
      'time',
      this.#isStopped || ownership.remainingMs >= step.minRemainingMs,
      () => `${who} has ${ownership.remainingMs} ms and needs ${step.minRemainingMs}`,
    );
    for (const one of held) holds.begin(one);
    const hold = { step, held, ownership };
    this.#present.add(hold);
    this.#write(hold, 0);
    return hold;
  }

  #write({ step, held: [first], ownership }: Hold, takesMs: number): void {
    if (step.guardMs === undefined || !isWhole(ownership) || !first) return;
    this.#around.writes.send({ ...first, key: ownership.key }, takesMs);
  }

  /**
   * Acquires by a subscription to a claim. Unsubscribes after a while, whether the claim waits or holds, or
   * at the moment of the grant.
   */
  async #claim(client: LockClient, step: Step, who: string): Promise<void> {
    let hold: Hold | undefined;
    let hasLeft = false;
    const { judge, holds } = this.#around;
    const leave = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      hold?.held.forEach((one) => holds.end(one, 'released'));
      if (hold) this.#present.delete(hold);
      else judge.tell({ type: 'gets nothing', who, why: 'left' });
      judge.note(`${who} leaves`);
      subscription.unsubscribe();
    };
    const subscription = client.claim(step.queue).subscribe({
      next: (state) => {
        if (state.status === 'held' && !hold) {
          hold = this.#begin(step, who, state.ownership);
          if (step.leavesAtGrant) leave();
        }
        if (state.status === 'ended' && state.outcome === 'failed')
          judge.ended(who, state.error, this.#circumstancesOf(step));
      },
      error: (error: unknown) => judge.require('outcome', false, () => `${who} errors: ${String(error)}`),
    });
    await this.#pause(step.waitTimeoutMs ?? 0);
    leave();
  }

  /**
   * Returns whether the step waits although its queue has had no holder for 30 s, and no steal or
   * deletion by an operator explains that.
   */
  #isInVain(step: Step): boolean {
    return !this.#isUnruly(step) && this.#around.holds.isIdle(step.queue, IN_VAIN_MS);
  }

  #circumstancesOf(step: Step): Circumstances {
    const { minRemainingMs, waitTimeoutMs = Infinity } = step;
    return {
      ...{ client: this.#name, isStopped: this.#isStopped, isUnruly: this.#isUnruly(step) },
      ...{ isDemanding: minRemainingMs > 0, isHasty: waitTimeoutMs < RESPONSES_WITHIN_MS },
    };
  }

  #isUnruly(step: Step): boolean {
    return queuesOf(step, this.#around).some((queue) => this.#around.holds.isUnruly(queue));
  }

  #pause(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => this.#machine.after(ms, resolve));
  }
}
