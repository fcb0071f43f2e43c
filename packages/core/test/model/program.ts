import { Subscription } from 'rxjs';
import { isQueueLockError, type AcquireOptions, type Ownership } from '../../src/index.ts';
import type { Claim } from './claim.ts';
import type { Hold } from './hold.ts';
import type { World } from './world.ts';

// Maximum duration of a `tryAcquire` in milliseconds: twice the sum of the connect timeout and the timeout of
// one request, and then the longest time for which a session may be suspect.
const TRY_MS = 2 * (1_000 + 250) + 3_000;
// Maximum time that the option `lockDelayMs` adds to a `tryAcquire`, in milliseconds. The delay itself is at
// most 400. Two requests, which read and erase the trace of an earlier hold, take at most 3,000 each.
const UNCLEAN_MS = 400 + 2 * 3_000;
// Maximum time that the option `minRemainingMs` adds to a `tryAcquire`, in milliseconds. The claim waits for
// up to two heartbeats, one of which must prove the required time.
const NEEDS_MS = 2 * (750 + 1_000);
// Delay in milliseconds from the timeout of a claim to the model's check that the claim has ended. It lets
// the client's own timer run first.
const GRACE_MS = 2;

/** Simulates the code of an application that claims a lock once, and then ends its hold. */
export class Program {
  readonly claim: Claim;
  readonly #world: World;
  readonly #abort = new AbortController();
  readonly #subscription = new Subscription();
  readonly #workDone: Promise<void>;
  #finishWork: () => void = () => undefined;
  #cancelTimer: () => void = () => undefined;
  #hurries = false;

  constructor(world: World, claim: Claim) {
    this.#world = world;
    this.claim = claim;
    this.#workDone = new Promise((resolve) => (this.#finishWork = resolve));
  }

  /**
   * Starts the claim. Resolves when the call that claims the lock has settled; for the stream `claim`,
   * resolves at once.
   */
  async start(): Promise<void> {
    const { plan, actor, label } = this.claim;
    const { kind, name, timeoutMs, minRemainingMs } = plan;
    const needs = minRemainingMs === undefined ? {} : { minRemainingMs };
    const options = { signal: this.#abort.signal, owner: label, ...needs };
    this.#world.judge.note(`${label} ${kind} ${name} ${timeoutMs === undefined ? '' : `${timeoutMs} ms`}`);
    if (actor.closed) this.claim.mustEnd('its client is closed');
    const stopWatching = this.#watchTheTime();
    if (kind === 'tryAcquire') return this.#try(options).finally(stopWatching);
    return this.#request(timeoutMs === undefined ? options : { ...options, timeoutMs });
  }

  /** Releases the lock, or lets the work of a `run` resolve so that the client releases the lock. */
  finish(times = 1): void {
    this.#cancelTimer();
    const { hold, label, plan } = this.claim;
    if (!hold) return;
    this.#world.judge.note(`${label} finishes`);
    if (plan.kind === 'run' || plan.kind === 'nested') this.#finishWork();
    else for (let time = 0; time < times; time++) hold.release();
  }

  /** Ends the hold as soon as possible: now, or when it begins. */
  hurry(): void {
    this.#hurries = true;
    this.finish();
  }

  abort(): void {
    const { claim } = this;
    this.#world.judge.note(`${claim.label} is aborted`);
    if (!claim.hold) claim.mustEnd('it was aborted');
    claim.aborted ??= new Error(`${claim.label} was aborted`);
    this.#abort.abort(claim.aborted);
  }

  unsubscribe(): void {
    const { claim } = this;
    if (claim.plan.kind !== 'claim' || claim.hasOutcome) return;
    this.#cancelTimer();
    claim.hold?.giveUp();
    claim.end('left');
    this.#subscription.unsubscribe();
    claim.hold?.read();
  }

  // --- The calls of the lock client that claim a lock.

  async #try(options: AcquireOptions): Promise<void> {
    const { plan, actor } = this.claim;
    try {
      const ownership = await actor.client.tryAcquire(plan.name, options);
      if (ownership) this.#own(ownership);
      this.claim.end(ownership ? 'granted' : 'busy');
    } catch (error) {
      this.claim.failed(error);
    }
  }

  async #request(options: AcquireOptions): Promise<void> {
    const { kind, name } = this.claim.plan;
    const { client } = this.claim.actor;
    if (kind === 'claim') {
      this.#subscribe(options);
      return;
    }
    try {
      if (kind === 'acquire') {
        this.#own(await client.acquire(name, options));
        this.claim.end('granted');
      } else {
        this.#ran(await client.run(name, (ownership) => this.#work(ownership), options));
      }
    } catch (error) {
      this.claim.failed(error);
    }
  }

  #subscribe(options: AcquireOptions): void {
    const { claim } = this;
    const { judge } = this.#world;
    this.#subscription.add(
      claim.actor.client.claim(claim.plan.name, options).subscribe({
        next: (state) => {
          if (state.status === 'held' && !claim.hold) this.#own(state.ownership);
          if (state.status === 'ended') this.#cancelTimer();
          claim.follow(state);
        },
        complete: () => {
          judge.require('outcome', claim.hasOutcome, () => `${claim.label} completes without an end`);
        },
        error: (error: unknown) => {
          judge.require('outcome', false, () => `${claim.label} errors: ${String(error)}`);
        },
      }),
    );
  }

  get #tryMs(): number {
    const { delayMs } = this.#world.succession;
    const { minRemainingMs = 0 } = this.claim.plan;
    return TRY_MS + (delayMs > 0 ? UNCLEAN_MS : 0) + (minRemainingMs > 0 ? NEEDS_MS : 0);
  }

  #watchTheTime(): () => void {
    const { claim } = this;
    const { machine } = claim.actor;
    const timeoutMs = claim.plan.kind === 'tryAcquire' ? this.#tryMs : claim.plan.timeoutMs;
    if (timeoutMs === undefined) return () => undefined;
    const read = (): void => {
      // The maximum duration of a `tryAcquire` is an assumption of this model, which does not include the time
      // of a freeze. So the model does not check it on a machine that was frozen.
      if (claim.plan.kind === 'tryAcquire' && machine.wasFrozen) return;
      if (!claim.hold) claim.mustEnd('its timeout is over');
    };
    // Makes the check of the timeout an event of its own on the client's machine. So it follows the events
    // that a freeze of the machine has delayed.
    return machine.after(timeoutMs + GRACE_MS, () => machine.do(read));
  }

  // --- The hold that the claim was granted.

  #own(ownership: Ownership): Hold {
    const { machine } = this.claim.actor;
    const { holdMs } = this.claim.plan;
    const finish = (): void => this.finish();
    const hold = this.claim.granted(ownership);
    if (this.#hurries) machine.do(finish);
    else if (holdMs !== undefined) this.#cancelTimer = machine.after(holdMs, finish);
    return hold;
  }

  async #work(ownership: Ownership): Promise<boolean> {
    const hold = this.#own(ownership);
    await this.#workDone;
    if (this.claim.plan.kind === 'nested') await this.#workWithin();
    // Reads `held` in the last statement of the work, because a `run` resolves only if the lock was held
    // until then.
    const held = hold.believes;
    hold.handBack();
    return held;
  }

  /**
   * Claims locks inside the work of a `run`. A claim of the name that the `run` holds must be rejected as
   * reentrant. A claim of the name `b` must wait in its queue as usual.
   */
  async #workWithin(): Promise<void> {
    const { plan, actor, label } = this.claim;
    const again: unknown = await actor.client.run(plan.name, () => 'ran').catch((error: unknown) => error);
    const refused = isQueueLockError(again, 'REENTRANT');
    this.#world.judge.require('run', refused, () => `${label} may wait for itself: ${String(again)}`);
    // Only the holder of `a` claims `b`, and no holder of `b` claims `a`, so that two programs cannot wait
    // for each other.
    if (plan.name !== 'a') return;
    await actor.program({ ...plan, name: 'b', kind: 'run', timeoutMs: 700, holdMs: 0 }).start();
  }

  #ran(held: boolean): void {
    const { label } = this.claim;
    this.#world.judge.require('run', held, () => `${label} resolves although its lock was lost`);
    this.claim.end('done');
  }
}
