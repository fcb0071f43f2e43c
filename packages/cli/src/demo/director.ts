import { setTimeout as pause } from 'node:timers/promises';
import type { QueueState } from '@queuelock/core';
import type { ContendEvent } from '../contend/event.ts';
import type { HistoryEvent, SeenEvent } from './history.ts';
import type { Actor, Stage } from './stage.ts';

export interface Script {
  /** Name of the queue that the contenders join. */
  readonly name: string;
  readonly contenders: number;
  readonly rounds: number;
  readonly holdMs: number;
}

export interface Direction {
  readonly stage: Stage;
  readonly script: Script;
  readonly stamp: () => string;
  /** Called with every event, in the order in which this process receives the events. */
  readonly emit: (event: HistoryEvent) => void;
  /** Called with every contender when it joins. */
  readonly onJoin: (actor: Actor) => void;
  readonly onQueue: (state: QueueState) => void;
  /** Signal whose abort ends the demo. */
  readonly stop: AbortSignal;
}

const ENTER_EVERY_MS = 150;
const CRASH_AFTER_MS = 400;
const LEAVE_AFTER_MS = 500;
// Hold time in milliseconds of the contender that the demo kills. The demo kills it long before this time
// ends.
const UNTIL_CRASH_MS = 60_000;

/**
 * Runs the demo. Its contenders join one after another. While the second contender holds the lock, a waiter
 * leaves the queue, and then the demo kills the second contender. The others finish all their rounds.
 * Resolves when all have ended and the store has removed the killed contender's entry.
 */
export function direct(direction: Direction): Promise<void> {
  return new Director(direction).play();
}

class Director {
  readonly #direction: Direction;
  readonly #actors = new Map<string, Actor>();
  readonly #last = new Map<string, HistoryEvent>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #doomed: ContendEvent | undefined;
  #crashed: SeenEvent | undefined;
  #leaving = false;
  #isAlone = false;
  #allSeen: () => void = () => undefined;
  #setQueued: () => void = () => undefined;
  /** Resolves when the contender that the demo will kill has joined the queue. */
  readonly #isQueued: Promise<void> = new Promise((resolve) => (this.#setQueued = resolve));

  constructor(direction: Direction) {
    this.#direction = direction;
  }

  async play(): Promise<void> {
    const { stage, script, stop, onQueue } = this.#direction;
    const endAll = (): void => {
      for (const actor of this.#actors.values()) actor.leave();
      this.#allSeen();
    };
    const read = (state: QueueState): void => {
      onQueue(state);
      this.#onQueue(state);
    };
    const watching = stage.observer.watch(script.name).subscribe({ next: read, error: endAll });
    stop.addEventListener('abort', endAll);
    await this.#enterAll();
    void this.#detectAlone();
    await Promise.all([...this.#actors.values()].map(({ ended }) => ended));
    await this.#expired();
    for (const timer of this.#timers) clearTimeout(timer);
    stop.removeEventListener('abort', endAll);
    watching.unsubscribe();
  }

  async #enterAll(): Promise<void> {
    const { stage, script, stop, onJoin } = this.#direction;
    for (let number = 1; number <= script.contenders && !stop.aborted; number += 1) {
      const id = `c${String(number)}`;
      const holdMs = id === CRASHES ? UNTIL_CRASH_MS : script.holdMs;
      const actor = stage.enter({ id, rounds: script.rounds, holdMs }, (event) => {
        this.#follow(event);
      });
      this.#actors.set(id, actor);
      onJoin(actor);
      // Further contenders join only after the one that the demo will kill. If they joined earlier, they
      // might finish before the kill. Then no waiter would be left to leave the queue.
      if (id === CRASHES) await Promise.race([this.#isQueued, actor.ended]);
      await pause(ENTER_EVERY_MS);
    }
  }

  #follow(event: ContendEvent): void {
    this.#emit(event);
    if (event.id === CRASHES && event.ev !== 'requesting') this.#setQueued();
    if (event.id === CRASHES && event.ev === 'acquired') this.#doomed = event;
    this.#stageDeparture();
  }

  /**
   * Waits until all contenders have ended except the one that the demo will kill. Then no waiter is left that
   * could leave the queue, so the demo kills that contender without waiting for a departure.
   */
  async #detectAlone(): Promise<void> {
    const others = [...this.#actors.values()].filter(({ id }) => id !== CRASHES);
    await Promise.all(others.map(({ ended }) => ended));
    this.#isAlone = true;
    this.#stageDeparture();
  }

  #crash(acquired: ContendEvent): void {
    const actor = this.#actors.get(CRASHES);
    if (!actor || this.#last.get(CRASHES)?.ev !== 'acquired') return;
    const until = this.#direction.stage.detectsDeath ? undefined : actor.provenUntil;
    // Reads the time of the crash before the contender is killed. The store may grant the next contender at
    // once, and that grant must not have an earlier time than the crash.
    this.#crashed = { ...this.#seen('crashed', acquired), ...(until === undefined ? {} : { until }) };
    this.#emit(this.#crashed);
    actor.crash();
  }

  /**
   * Orders a waiter to leave the queue. The current holder keeps the lock until the demo kills it, so the
   * waiter cannot be granted in the meantime.
   */
  #stageDeparture(): void {
    const doomed = this.#doomed;
    const waiting = this.#firstWaiting();
    if (this.#leaving || !doomed || (!waiting && !this.#isAlone)) return;
    this.#leaving = true;
    const leaver = waiting && this.#actors.get(waiting.id);
    if (leaver) this.#in(LEAVE_AFTER_MS, () => leaver.leave());
    void Promise.resolve(leaver?.ended).then(() => this.#in(CRASH_AFTER_MS, () => this.#crash(doomed)));
  }

  #firstWaiting(): HistoryEvent | undefined {
    const waiting = [...this.#last.values()].filter(({ ev }) => ev === 'enqueued');
    return waiting.sort((a, b) => Number(BigInt(a.token ?? 0) - BigInt(b.token ?? 0)))[0];
  }

  #onQueue({ status, entries }: QueueState): void {
    const dead = this.#crashed;
    if (!dead || status !== 'live' || this.#last.get(CRASHES)?.ev === 'expired') return;
    if (entries.some(({ key }) => key === dead.key)) return;
    this.#emit(this.#seen('expired', dead));
    this.#allSeen();
  }

  /**
   * Resolves when the store has removed the killed contender's entry. Resolves at once if no contender was
   * killed.
   */
  async #expired(): Promise<void> {
    if (!this.#crashed || this.#last.get(CRASHES)?.ev === 'expired' || this.#direction.stop.aborted) return;
    await new Promise<void>((resolve) => {
      this.#allSeen = resolve;
    });
  }

  #seen(ev: SeenEvent['ev'], { id, name, key, token, zxid, n }: HistoryEvent): SeenEvent {
    const entry = { ...(key && { key }), ...(token && { token }), ...(zxid && { zxid }) };
    return { t: this.#direction.stamp(), id, ev, name, ...entry, n };
  }

  #emit(event: HistoryEvent): void {
    this.#last.set(event.id, event);
    this.#direction.emit(event);
  }

  #in(ms: number, act: () => void): void {
    this.#timers.add(setTimeout(act, ms));
  }
}

const CRASHES = 'c2';
