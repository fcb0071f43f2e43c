import type { Machine, Timeline } from '../timeline.ts';
import type { Judge } from './judge.ts';
import { LATCH_COUNT, ROUND_MEMBERS } from './plan.ts';
import type { Store } from './store.ts';

/** Somebody's place in a round of a double barrier that has begun. */
export interface InRound {
  readonly who: string;
  readonly machine: Machine;
  readonly queue: string;
  readonly round: string;
  readonly index: number;
  /** Whether it knows that the others no longer wait for it. */
  readonly isLost: () => boolean;
  /** It has said that its part is done, or its process is gone. */
  isDone: boolean;
}

/** Who does a slot, and whether it may be done again until it is done to the end. */
export interface SlotUser {
  readonly who: string;
  readonly mayRepeat: boolean;
}

/** What the users of a recipe agree on without holding anything, and whether it is so. */
export class Agreements {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #store: Pick<Store, 'standing'>;
  readonly #begun = new Set<string>();
  readonly #returned = new Set<string>();
  readonly #rounds = new Map<string, InRound[]>();
  /** Who came to the double barrier and is not known to be in a round. */
  #arrivals = 0;
  #sets = 0;
  #countDowns = 0;

  constructor(timeline: Timeline, judge: Judge, store: Pick<Store, 'standing'>) {
    this.#timeline = timeline;
    this.#judge = judge;
    this.#store = store;
  }

  /** Whoever leads again and again never does two works at once. */
  leads(who: string, isAlone: boolean): void {
    this.#agree(isAlone, () => `${who} leads twice at once`);
  }

  /** The work of a slot begins. */
  slotBegins(slot: string, { mayRepeat, who }: SlotUser): void {
    this.#agree(mayRepeat || !this.#begun.has(slot), () => `${who} begins the slot ${slot} again`);
    this.#begun.add(slot);
  }

  slotReturns(slot: string): void {
    this.#returned.add(slot);
  }

  /** Somebody is told that it is noted. What is done once at most is noted before it begins. */
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
    // Whoever gave up in the moment in which the round began was a member of it, and so was whoever's entry is still there.
    const came = this.#arrivals - [...this.#rounds.values()].flat().length + others.length + 1;
    const members = Math.max(came, this.#store.standing(queue).length);
    this.#agree(members >= ROUND_MEMBERS, () => `${who} begins a round alone`);
  }

  /** All of its round are done or gone, it is told. */
  roundEnds({ who, round }: InRound): void {
    const busy = (this.#rounds.get(round) ?? []).filter(
      ({ isDone, machine, isLost }) => !isDone && !this.#timeline.as(machine, isLost),
    );
    this.#agree(busy.length === 0, () => `${who} leaves before ${busy.map((one) => one.who).join(', ')}`);
  }

  /** A count was set where none was, or one was over. */
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

  /** At most so many have come to 0. */
  get #latchesOver(): number {
    return Math.floor(this.#countDowns / LATCH_COUNT);
  }

  #agree(isSo: boolean, detail: () => string): void {
    this.#judge.require('agreed', isSo, detail);
  }
}
