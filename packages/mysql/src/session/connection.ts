import type { Clock } from '@queuelock/core/backend';
import type { Driver } from '../driver/driver.ts';
import { Link } from '../server/link.ts';
import { Observers } from '../turn/observers.ts';
import { Rounds, type Found } from '../turn/rounds.ts';
import { Subject, type Observable } from '../base/rx.ts';
import type { MysqlSession } from './session.ts';
import { literal, textOf, type Value } from '../queue/sql.ts';
import { Steps, type Answer } from '../server/steps.ts';
import { firsts, roundQuery, type Told } from '../turn/waiting.ts';

interface Settings {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly withinMs: number;
  readonly connections: number;
}

const TIDY_EVERY_MS = 600_000;

/** The connections to one database, and those of this process who wait there. */
export class Connection {
  readonly steps: Steps;
  /** A connection has broken. */
  readonly doubts$: Observable<void>;
  readonly observers: Observers;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #residents = new Map<string, MysqlSession>();
  readonly #rounds: Rounds;
  #ahead = '';
  #calls = 0;
  #tidiedAt = -Infinity;
  #isSweeping = false;

  constructor({ driver, clock, withinMs, connections }: Settings) {
    const doubts$ = new Subject<void>();
    this.doubts$ = doubts$;
    this.#clock = clock;
    this.#link = new Link(driver, {
      clock,
      withinMs,
      connections,
      // The server may be another one, or have forgotten.
      onDown: () => {
        setImmediate(() => {
          doubts$.next();
          for (const resident of this.#residents.values()) resident.lookAround();
        });
      },
    });
    this.steps = new Steps(this.#link, (session, ord) => this.#admit(session, ord));
    this.observers = new Observers(clock);
    this.#rounds = new Rounds(clock, () => this.#round());
  }

  /** A step that may change what is looked at. @throws {QueueLockError} */
  async take(procedure: string, ...values: readonly Value[]): Promise<Answer> {
    const answer = await this.steps.take(procedure, ...values);
    this.observers.lookSoon();
    return answer;
  }

  async eraseTraces(queue: string, traces: readonly string[]): Promise<void> {
    const ords = traces.map((ord) => BigInt(ord)).join(', ');
    await this.steps.write(
      `delete from queuelock_trace where queue = ${literal(queue)} and ord in (${ords})`,
    );
  }

  /** Grows with every call: what is asked for later is known later. */
  nextCall(): number {
    return (this.#calls += 1);
  }

  /** From now on until it leaves, its turns reach it. */
  settle(resident: MysqlSession): void {
    this.#residents.set(resident.id, resident);
  }

  leave(resident: MysqlSession): void {
    // Who resumes a session in this process takes the place of the one before.
    if (this.#residents.get(resident.id) === resident) this.#residents.delete(resident.id);
  }

  /** An entry of this process waits, with so many in front. */
  waits(inFront: number): void {
    this.#rounds.begin(Math.max(1, inFront));
  }

  /** Now and then whoever renews takes away what nobody needs any more. */
  tidySoon(): void {
    if (this.#clock.now() - this.#tidiedAt < TIDY_EVERY_MS) return;
    this.#tidiedAt = this.#clock.now();
    // The next one does it.
    this.steps.take('tidy').catch(() => undefined);
  }

  /** Ends the sessions whose lease is over. One that fails is repeated when it is seen again. */
  sweepSoon(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.take('sweep')
      .catch(() => undefined)
      .finally(() => (this.#isSweeping = false));
  }

  close(): void {
    this.#rounds.close();
    this.observers.close();
    this.#link.close();
  }

  async #round(): Promise<Found> {
    const residents = [...this.#residents.values()].filter(({ entries }) => entries.anyWaits);
    if (residents.length === 0) return undefined;
    const waiting = firsts(residents.flatMap(({ entries }) => [...entries.waiting]));
    try {
      const ids = residents.map(({ id }) => id);
      const told = await this.steps.read<Told>(roundQuery(ids, waiting));
      this.#tell(residents, told);
      const ahead = told.filter(({ kind }) => kind === 4).map(({ b, c }) => [Number(b), Number(c)] as const);
      for (const [nth, count] of ahead)
        if (count === 0) this.#mendLater(waiting[nth]?.queue ?? '', waiting[nth]?.ord ?? '');
      const isQuiet = this.#isAsBefore(
        ahead.map(([nth, count]) => `${waiting[nth]?.ord}:${count}`).join(' '),
      );
      if (!residents.some(({ entries }) => entries.anyWaits)) return undefined;
      const inFront = Math.min(...ahead.map(([nth, count]) => count - (waiting[nth]?.limit ?? 1) + 1));
      return { inFront: Math.max(1, inFront), isQuiet };
    } catch {
      return { inFront: Number.MAX_SAFE_INTEGER, isQuiet: true };
    }
  }

  #admit(session: string, ord: string): void {
    this.#residents.get(session)?.entries.notify(ord, true, this.#calls);
  }

  #tell(residents: readonly MysqlSession[], told: readonly Told[]): void {
    const sessions = new Map<string, Told>();
    for (const each of told) {
      if (each.kind === 1) this.#admit(textOf(each.a), String(each.b));
      if (each.kind === 2) sessions.set(textOf(each.a), each);
      if (each.kind === 3) this.sweepSoon();
    }
    for (const resident of residents) {
      const found = sessions.get(resident.id);
      if (found) resident.seen(Number(found.b), Number(found.c));
      else resident.seen(undefined, 0);
    }
  }

  #isAsBefore(ahead: string): boolean {
    const isQuiet = ahead === this.#ahead;
    this.#ahead = ahead;
    return isQuiet;
  }

  /** Nobody is in front and it was not admitted: it is seen so once between two statements, and for ever when somebody took away who was. */
  #mendLater(queue: string, ord: string): void {
    const waits = [...this.#residents.values()].some(({ entries }) =>
      [...entries.waiting].some((placed) => placed.ord === ord),
    );
    if (waits) this.take('mend', queue).catch(() => undefined);
  }
}
