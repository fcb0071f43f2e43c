import { Subscription } from 'rxjs';
import { isQueueLockError, type AcquireOptions, type ClaimState, type Ownership } from '../../src/index.ts';
import type { Actor } from './actor.ts';
import { hasCause } from './cause.ts';
import { Hold } from './hold.ts';
import type { ClaimPlan } from './plan.ts';
import type { Machine } from './timeline.ts';
import type { World } from './world.ts';

// An overdue timeout is looked for this long after its time, when its own timer has run.
const GRACE_MS = 2;

/** One acquisition: asks for a lock in one of the ways there are, and checks what comes of it. */
export class Claim {
  readonly label: string;
  readonly #plan: ClaimPlan;
  readonly #actor: Actor;
  readonly #world: World;
  readonly #abort = new AbortController();
  readonly #reason: Error;
  readonly #subscription = new Subscription();
  readonly #workDone: Promise<void>;
  #finishWork: () => void = () => undefined;
  #cancelTimer: () => void = () => undefined;
  #startedAt = 0;
  #sessionsLostBefore = 0;
  #key: string | undefined;
  #hold: Hold | undefined;
  #outcome: string | undefined;
  #doom: string | undefined;
  #hurry = false;
  #ended: () => void = () => undefined;

  constructor(world: World, actor: Actor, { label, plan }: { label: string; plan: ClaimPlan }) {
    this.label = label;
    this.#world = world;
    this.#actor = actor;
    this.#plan = plan;
    this.#reason = new Error(`${label} was aborted`);
    this.#workDone = new Promise((resolve) => (this.#finishWork = resolve));
  }

  /** It has come to its end, for better or worse. */
  get over(): boolean {
    return this.#outcome !== undefined && !this.#hold?.open;
  }

  /** Its wait or its hold is over. */
  get ended(): boolean {
    return this.#hold ? !this.#hold.open : this.#outcome !== undefined;
  }

  get machine(): Machine {
    return this.#actor.machine;
  }

  // --- what its program does

  start(): void {
    const { client, machine } = this.#actor;
    const { way, name, timeoutMs } = this.#plan;
    const limits = { signal: this.#abort.signal, owner: this.label };
    const options: AcquireOptions = { ...limits, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const fail = (error: unknown): void => this.#fail(error);
    this.#world.judge.note(
      `${this.label} ${way} ${name} ${timeoutMs === undefined ? '' : `${timeoutMs} ms`}`,
    );
    this.#startedAt = machine.now();
    this.#sessionsLostBefore = this.#actor.sessionsLost;
    if (this.#actor.closed) this.mustEnd('its client is closed');
    if (way === 'claim') this.#subscribe(options);
    else if (way === 'acquire') client.acquire(name, options).then((held) => this.#own(held), fail);
    else if (way === 'tryAcquire') {
      client.tryAcquire(name, limits).then((held) => (held ? this.#own(held) : this.#end('busy')), fail);
    } else {
      client.run(name, (held) => this.#work(held), options).then((held) => this.#ran(held), fail);
    }
    if (way !== 'tryAcquire' && timeoutMs !== undefined) {
      // Twice: what the machine was too late for comes first.
      machine.after(timeoutMs + GRACE_MS, () => machine.do(() => this.mustEnd('its timeout is over')));
    }
  }

  /** Releases the lock, or lets its work end; `times` times. */
  finish(times = 1): void {
    this.#cancelTimer();
    if (!this.#hold) return;
    this.#world.judge.note(`${this.label} finishes`);
    this.#finishWork();
    if (this.#runs) return;
    for (let time = 0; time < times; time++) this.#hold.release();
  }

  /** From now on it holds the lock no longer than it must. */
  hurry(): void {
    this.#hurry = true;
    this.finish();
  }

  abort(): void {
    this.#world.judge.note(`${this.label} is aborted`);
    if (!this.#hold) this.mustEnd('it was aborted');
    this.#abort.abort(this.#reason);
  }

  unsubscribe(): void {
    if (this.#plan.way !== 'claim' || this.#outcome !== undefined) return;
    this.#world.judge.note(`${this.label} unsubscribes`);
    this.#cancelTimer();
    this.#hold?.giveUp();
    this.#end('left');
    this.#subscription.unsubscribe();
    this.#hold?.look();
  }

  look(): void {
    if (this.#plan.looks) this.#hold?.look();
  }

  // --- what happens to it

  /** Until the present event is dealt with, its wait or its hold must have ended. */
  mustEnd(why: string): void {
    if (why.startsWith('its timeout') && this.#hold) return;
    this.#doom ??= why;
  }

  sessionEnded(sessionId: string): void {
    if (this.#key !== undefined && this.#world.ledger.sessionOf(this.#key) === sessionId) {
      this.mustEnd('its session has ended');
    }
  }

  settled(): void {
    if (this.#doom === undefined) return;
    this.#world.judge.require('at once', this.ended, () => `${this.label} goes on although ${this.#doom}`);
    this.#doom = undefined;
  }

  // --- what it is told

  get #runs(): boolean {
    return this.#plan.way === 'run' || this.#plan.way === 'nested';
  }

  #subscribe(options: AcquireOptions): void {
    const { judge } = this.#world;
    const ends = (kind: string) => (): void =>
      judge.require('outcome', this.#outcome !== undefined, () => `${this.label} ${kind} without an end`);
    this.#subscription.add(
      this.#actor.client.claim(this.#plan.name, options).subscribe({
        next: (state) => this.#follow(state),
        complete: ends('completes'),
        error: (error: unknown) => judge.require('outcome', false, () => `errors: ${String(error)}`),
      }),
    );
  }

  #follow(state: ClaimState): void {
    const { judge } = this.#world;
    const { status } = state;
    const say = (what: string) => () => `${this.label} ${what} (${status})`;
    judge.note(`${this.label} ${status}${status === 'ended' ? ` ${state.outcome}` : ''}`);
    judge.require('outcome', this.#outcome === undefined, say('goes on after its end'));
    if (status === 'held' || status === 'doubtful') {
      judge.require('grant', this.#hold !== undefined || status === 'held', say('begins in doubt'));
      if (!this.#hold) this.#own(state.ownership);
      judge.require('grant', this.#hold!.is(state.ownership), say('has a second ownership'));
      judge.require('no way back', state.ownership.held, say('is not held'));
    } else if (status === 'ended') {
      this.#cancelTimer();
      if (state.outcome === 'failed') this.#fail(state.error);
      else this.#endHold(state.outcome, state.outcome === 'lost' ? state.error : undefined);
    } else {
      judge.require('no way back', !this.#hold, say('stands in line after its grant'));
      if (status === 'queued') this.#key = state.key;
    }
  }

  #own(ownership: Ownership): Hold {
    const { judge, succession } = this.#world;
    const { looks, holdMs, way } = this.#plan;
    const hold = new Hold(this.#world, ownership, { label: this.label, actor: this.#actor, looks });
    judge.note(`${this.label} holds ${hold.key}`);
    const wanted = !this.#hold && !this.#outcome && !this.#doom;
    judge.require('grant', wanted, () => `${this.label} is granted, and not wanted`);
    judge.require('grant', this.#actor.alive, () => `${this.label} is granted in doubt`);
    judge.require('grant', hold.believes, () => `${this.label} is granted, and not held`);
    this.#hold = hold;
    this.#key = hold.key;
    succession.granted(hold);
    if (way === 'acquire' || way === 'tryAcquire') this.#end('granted');
    if (this.#hurry) this.#actor.machine.do(() => this.finish());
    else if (holdMs !== undefined) {
      this.#cancelTimer = this.#actor.machine.after(holdMs, () => this.finish());
    }
    return hold;
  }

  #endHold(outcome: 'released' | 'lost', error: unknown): void {
    const { judge } = this.#world;
    const hold = this.#hold;
    const fits = hold && (outcome === 'released' ? hold.gaveUp : hold.told && hold.lostBy(error));
    judge.require('outcome', fits === true, () => `${this.label} was ${outcome} and was not`);
    this.#end(outcome);
  }

  #fail(error: unknown): void {
    const { judge } = this.#world;
    if (this.#hold) {
      // Only a `run` can reject after its grant.
      const lost = isQueueLockError(error, 'OWNERSHIP_LOST') && this.#hold.told;
      judge.require('run', lost, () => `${this.label} rejects with ${String(error)}`);
    } else {
      const failure = {
        label: this.label,
        plan: this.#plan,
        actor: this.#actor,
        waitedMs: this.machine.now() - this.#startedAt,
        sessionsLost: this.#actor.sessionsLost - this.#sessionsLostBefore,
        aborted: this.#abort.signal.aborted ? this.#reason : undefined,
      };
      judge.require(
        'outcome',
        hasCause(error, failure, this.#world),
        () => `${this.label} fails: ${String(error)}`,
      );
    }
    this.#end(`failed ${String(error)}`);
  }

  #end(outcome: string): void {
    this.#world.judge.note(`${this.label} ${outcome}`);
    this.#world.judge.require('outcome', this.#outcome === undefined, () => `${this.label} ends twice`);
    this.#outcome = outcome;
    this.#ended();
  }

  // --- its work, if it runs some

  async #work(ownership: Ownership): Promise<boolean> {
    const hold = this.#own(ownership);
    await this.#workDone;
    if (this.#plan.way === 'nested') await this.#workWithin();
    // The last statement of the work.
    const held = hold.believes;
    hold.giveUp();
    return held;
  }

  /** Calls inside the work: its own name is refused, another one is waited for. */
  async #workWithin(): Promise<void> {
    const { name } = this.#plan;
    const again = await this.#actor.client.run(name, () => 'ran').catch((error: unknown) => error);
    const refused = isQueueLockError(again, 'REENTRANT');
    this.#world.judge.require('run', refused, () => `${this.label} may wait for itself: ${String(again)}`);
    // Names are taken in one order, so that two of these cannot wait for each other.
    if (name !== 'a') return;
    const inner = this.#actor.claim({ ...this.#plan, name: 'b', way: 'run', timeoutMs: 700, holdMs: 0 });
    await new Promise<void>((resolve) => {
      inner.#ended = resolve;
      inner.start();
    });
  }

  #ran(held: boolean): void {
    this.#world.judge.require('run', held, () => `${this.label} resolves although its lock was lost`);
    this.#end('done');
  }
}
