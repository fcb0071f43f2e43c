import { isQueueLockError, type ClaimState, type Ownership } from '../../src/index.ts';
import type { Actor } from './actor.ts';
import { hasCause } from './cause.ts';
import { Hold } from './hold.ts';
import type { ClaimPlan } from './plan.ts';
import type { World } from './world.ts';

/** One acquisition of a simulated client. It checks every state that the claim reports against the rules. */
export class Claim {
  readonly label: string;
  readonly plan: ClaimPlan;
  readonly actor: Actor;
  readonly #world: World;
  readonly #startedAt: number;
  readonly #sessionsLostBefore: number;
  #hold: Hold | undefined;
  #outcome: string | undefined;
  #doom: string | undefined;
  /** The reason with which the claim's signal was aborted, if it was. */
  aborted: Error | undefined;

  constructor(world: World, actor: Actor, { label, plan }: { label: string; plan: ClaimPlan }) {
    this.label = label;
    this.plan = plan;
    this.actor = actor;
    this.#world = world;
    this.#startedAt = actor.machine.now();
    this.#sessionsLostBefore = actor.sessionsLost;
  }

  get hold(): Hold | undefined {
    return this.#hold;
  }

  get hasOutcome(): boolean {
    return this.#outcome !== undefined;
  }

  /** Whether the claim neither waits nor holds any more. */
  get ended(): boolean {
    return this.#hold ? !this.#hold.open : this.hasOutcome;
  }

  /** Whether the claim has an outcome and no open hold, so that nothing more can happen to it. */
  get over(): boolean {
    return this.hasOutcome && !this.#hold?.open;
  }

  /** Records that this claim must neither wait nor hold any more once the current event has been handled. */
  mustEnd(why: string): void {
    this.#doom ??= why;
  }

  sessionEnded(sessionId: string): void {
    const { ledger } = this.#world;
    const key = ledger.keyOf(this.label);
    if (key !== undefined && ledger.sessionOf(key) === sessionId) this.mustEnd('its session has ended');
  }

  settled(): void {
    this.#hold?.settled();
    if (this.#doom === undefined) return;
    this.#world.judge.require('at once', this.ended, () => `${this.label} goes on: ${this.#doom}`);
    this.#doom = undefined;
  }

  /** Makes the holder read `held`, if the plan of this claim includes that (`ClaimPlan.reads`). */
  read(): void {
    if (this.plan.reads) this.#hold?.read();
  }

  granted(ownership: Ownership): Hold {
    const { judge, succession } = this.#world;
    const hold = new Hold(this.#world, ownership, this);
    judge.note(`${this.label} holds ${hold.key}`);
    const wanted = !this.#hold && !this.hasOutcome && this.#doom === undefined;
    judge.require('grant', wanted, () => `${this.label} is granted, and not wanted`);
    judge.require('grant', this.actor.alive, () => `${this.label} is granted in doubt`);
    judge.require('grant', hold.believes, () => `${this.label} is granted, and not held`);
    const minRemainingMs = this.plan.minRemainingMs ?? 0;
    const enough = hold.remainingMs >= minRemainingMs;
    judge.require(
      'enough time',
      enough,
      () => `${this.label} begins without the ${minRemainingMs} ms that it needs`,
    );
    this.#hold = hold;
    succession.granted(hold);
    return hold;
  }

  /**
   * Checks a state that the claim emits. The caller must record the grant (`granted`) before it passes the
   * state `held`.
   */
  follow(state: ClaimState): void {
    const { judge } = this.#world;
    const { status } = state;
    const say = (what: string) => () => `${this.label} ${what} (${status})`;
    judge.note(`${this.label} ${status}`);
    judge.require('outcome', !this.hasOutcome, say('goes on after its end'));
    if (status === 'held' || status === 'suspect') {
      judge.require('grant', this.#hold?.is(state.ownership) === true, say('begins in doubt, or anew'));
      judge.require('no way back', state.ownership.held, say('is not held'));
    } else if (status === 'ended') {
      if (state.outcome === 'failed') this.failed(state.error);
      else this.#holdEnded(state.outcome, state.outcome === 'lost' ? state.error : undefined);
    } else {
      judge.require('no way back', !this.#hold, say('is queued after its grant'));
    }
  }

  failed(error: unknown): void {
    const { judge } = this.#world;
    const say = (): string => `${this.label} fails: ${String(error)}`;
    if (this.#hold) {
      // A claim that was granted may fail only if it is a `run` whose hold was lost.
      judge.require('run', isQueueLockError(error, 'OWNERSHIP_LOST') && this.#hold.notified, say);
    } else {
      const waitedMs = this.actor.machine.now() - this.#startedAt;
      const sessionsLost = this.actor.sessionsLost - this.#sessionsLostBefore;
      judge.require('outcome', hasCause(error, { claim: this, waitedMs, sessionsLost }, this.#world), say);
    }
    this.end(`failed: ${String(error)}`);
  }

  end(outcome: string): void {
    const { judge } = this.#world;
    judge.note(`${this.label} ${outcome}`);
    judge.require('outcome', !this.hasOutcome, () => `${this.label} ends twice`);
    this.#outcome = outcome;
  }

  #holdEnded(outcome: 'released' | 'lost', error: unknown): void {
    const hold = this.#hold;
    const fits = hold && (outcome === 'released' ? hold.gaveUp : hold.notified && hold.lostBy(error));
    this.#world.judge.require('outcome', fits === true, () => `${this.label} was ${outcome} and was not`);
    this.end(outcome);
  }
}
