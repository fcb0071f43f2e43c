import type { Machine, Timeline } from '../timeline.ts';
import type { Judge } from './judge.ts';
import { LATCH_COUNT, ROUND_MEMBERS } from './plan.ts';
import type { Store } from './store.ts';

/**
 * A client that takes part in a round of a double barrier. The members of a round enter together and leave
 * together.
 */
export interface InRound {
  readonly who: string;
  readonly machine: Machine;
  readonly queue: string;
  readonly round: string;
  readonly index: number;
  /**
   * Returns whether the client has lost its hold, so that other clients of the round need not wait for it.
   */
  readonly isLost: () => boolean;
  /** Whether the client has done its work in the round of the double barrier, or its process has ended. */
  isDone: boolean;
}

/**
 * A client that runs a slot of a job. `mayRepeat` is true if the slot may run again until one run of it has
 * returned.
 */
export interface SlotUser {
  readonly who: string;
  readonly mayRepeat: boolean;
}

/** Checks what recipes guarantee besides exclusive holds: double barriers, slots, latches and leaderships. */
export class Agreements {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #store: Pick<Store, 'standing'>;
  readonly #begun = new Set<string>();
  readonly #returned = new Set<string>();
  readonly #rounds = new Map<string, InRound[]>();
  /** Number of participants that have entered the double barrier. */
  #arrivals = 0;
  #sets = 0;
  #countDowns = 0;

  constructor(timeline: Timeline, judge: Judge, store: Pick<Store, 'standing'>) {
    this.#timeline = timeline;
    this.#judge = judge;
    this.#store = store;
  }

  /** Checks that the recipe `lead` never runs the work of one call twice at the same time. */
  leads(who: string, isAlone: boolean): void {
    this.#agree(isAlone, () => `${who} leads twice at once`);
  }

  /** Records that the work of a slot begins, and checks that it may begin. */
  slotBegins(slot: string, { mayRepeat, who }: SlotUser): void {
    this.#agree(mayRepeat || !this.#begun.has(slot), () => `${who} begins the slot ${slot} again`);
    this.#begun.add(slot);
  }

  slotReturns(slot: string): void {
    this.#returned.add(slot);
  }

  /**
   * Checks that a client may report a slot as done. Its work must have returned. A slot that runs at most
   * once counts as done from the beginning of its work.
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
    // A client that gives up when the round begins is a member of the round, but never reports the beginning.
    // So the members are counted as the clients that have arrived and are in no other round. If the queue has
    // more entries than that, its entries are counted instead.
    const came = this.#arrivals - [...this.#rounds.values()].flat().length + others.length + 1;
    const members = Math.max(came, this.#store.standing(queue).length);
    this.#agree(members >= ROUND_MEMBERS, () => `${who} begins a round alone`);
  }

  /**
   * Checks that all other clients of a round are done, have lost their holds, or have crashed. Called when a
   * client reports the end of a round of the double barrier.
   */
  roundEnds({ who, round }: InRound): void {
    const busy = (this.#rounds.get(round) ?? []).filter(
      ({ isDone, machine, isLost }) => !isDone && !this.#timeline.as(machine, isLost),
    );
    this.#agree(busy.length === 0, () => `${who} leaves before ${busy.map((one) => one.who).join(', ')}`);
  }

  /** Checks, when a client sets a latch, that the previous latch had enough count-downs to open. */
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

  /** Number of latches that may have opened so far. Each needs as many count-downs as its initial count. */
  get #latchesOver(): number {
    return Math.floor(this.#countDowns / LATCH_COUNT);
  }

  #agree(isSo: boolean, detail: () => string): void {
    this.#judge.require('agreed', isSo, detail);
  }
}
