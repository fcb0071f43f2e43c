import type { Machine, Timeline } from '../timeline.ts';
import type { Judge } from './judge.ts';
import { LATCH_COUNT, ROUND_MEMBERS } from './plan.ts';
import type { Store } from './store.ts';

/** A participant in a round of a double barrier, after the round has begun. */
export interface InRound {
  readonly who: string;
  readonly machine: Machine;
  readonly queue: string;
  readonly round: string;
  readonly index: number;
  /** Returns whether the participant knows that no other participant waits for it any more. */
  readonly isLost: () => boolean;
  /** Whether the participant has reported its part as done, or its process has ended. */
  isDone: boolean;
}

/** The client that runs a slot, and whether the slot may run again until it is completed. */
export interface SlotUser {
  readonly who: string;
  readonly mayRepeat: boolean;
}

/** Checks agreements between users of a recipe that do not depend on a hold. */
export class Agreements {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #store: Pick<Store, 'standing'>;
  readonly #begun = new Set<string>();
  readonly #returned = new Set<string>();
  readonly #rounds = new Map<string, InRound[]>();
  /** Number of participants that reached the double barrier and are not known to be in a round. */
  #arrivals = 0;
  #sets = 0;
  #countDowns = 0;

  constructor(timeline: Timeline, judge: Judge, store: Pick<Store, 'standing'>) {
    this.#timeline = timeline;
    this.#judge = judge;
    this.#store = store;
  }

  /** Checks that `lead` never runs the work of one caller twice at the same time. */
  leads(who: string, isAlone: boolean): void {
    this.#agree(isAlone, () => `${who} leads twice at once`);
  }

  /** Records that the work of a slot begins. */
  slotBegins(slot: string, { mayRepeat, who }: SlotUser): void {
    this.#agree(mayRepeat || !this.#begun.has(slot), () => `${who} begins the slot ${slot} again`);
    this.#begun.add(slot);
  }

  slotReturns(slot: string): void {
    this.#returned.add(slot);
  }

  /**
   * Checks that a slot was done or recorded when a client is notified that it is done. A slot that runs at
   * most once is recorded before it begins.
   */
  slotIsPast(slot: string, { mayRepeat, who }: SlotUser): void {
    this.#agree(!mayRepeat || this.#returned.has(slot), () => `${who} is told that the slot ${slot} is done`);
  }

  arrives(): void {
    this.#arrivals += 1;
  }

  roundBegins(place: InRound): void {
    const { who, queue, round, index } = place;
    const others = this.#rounds.get(round) ?? [];
    this.#rounds.set(round, [...others, place]);
    const isFree = others.every((other) => other.index !== index);
    this.#agree(isFree && index < ROUND_MEMBERS, () => `${who} is number ${index} of the round ${round} too`);
    // Members of a round also are a participant that gave up at the moment when the round began, and any
    // participant whose entry still exists.
    const came = this.#arrivals - [...this.#rounds.values()].flat().length + others.length + 1;
    const members = Math.max(came, this.#store.standing(queue).length);
    this.#agree(members >= ROUND_MEMBERS, () => `${who} begins a round alone`);
  }

  /**
   * Checks, when a client is notified of the end of its round, that all participants are done or have ended.
   */
  roundEnds({ who, round }: InRound): void {
    const busy = (this.#rounds.get(round) ?? []).filter(
      ({ isDone, machine, isLost }) => !isDone && !this.#timeline.as(machine, isLost),
    );
    this.#agree(busy.length === 0, () => `${who} leaves before ${busy.map((one) => one.who).join(', ')}`);
  }

  /** Checks, when a latch is set, that no client can still count down an earlier latch. */
  latchIsSet(who: string): void {
    this.#sets += 1;
    this.#agree(this.#sets <= 1 + this.#latchesOver, () => `${who} sets a latch that is not over`);
  }

  countsDown(): void {
    this.#countDowns += 1;
  }

  latchOpens(who: string): void {
    this.#agree(this.#latchesOver > 0, () => `${who} passes a latch that is not over`);
  }

  /** The largest number of latches that can have reached 0 so far. */
  get #latchesOver(): number {
    return Math.floor(this.#countDowns / LATCH_COUNT);
  }

  #agree(isSo: boolean, detail: () => string): void {
    this.#judge.require('agreed', isSo, detail);
  }
}
