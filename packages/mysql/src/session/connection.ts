import type { Clock, EntryTracker } from '@queuelock/core/backend';
import type { Driver } from '../driver/driver.ts';
import { Link } from '../server/link.ts';
import { Observers } from '../turn/observers.ts';
import { Rounds, type Found } from '../turn/rounds.ts';
import { Subject, type Observable } from '../base/rx.ts';
import { literal, textOf, type Value } from '../queue/sql.ts';
import { Steps, type Answer } from '../server/steps.ts';
import { firsts, mayHold, roundQuery, type Placed, type PollRow } from '../turn/waiting.ts';

/** A session of this process, with the methods by which the connection notifies it. */
export interface Resident {
  readonly id: string;
  readonly entries: EntryTracker<Placed>;
  readState(): void;
  seen(generation: number | undefined, lost: number): void;
}

interface Settings {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly withinMs: number;
  readonly connections: number;
}

const TIDY_EVERY_MS = 600_000;

/** The connections and polls of this process for one database, which all its sessions and observers share. */
export class Connection {
  readonly steps: Steps;
  /** Emits when a connection to the server broke. */
  readonly doubts$: Observable<void>;
  readonly observers: Observers;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #residents = new Map<string, Resident>();
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
      // Lets the sessions read their entries again, because a new connection may lead to another server, or to
      // one that has lost data.
      onDown: () => {
        setImmediate(() => {
          doubts$.next();
          for (const resident of this.#residents.values()) resident.readState();
        });
      },
    });
    this.steps = new Steps(this.#link, {
      onTurn: (session, ord) => this.#admit(session, ord),
      migrate: true,
    });
    this.observers = new Observers(clock);
    this.#rounds = new Rounds(clock, () => this.#round());
  }

  /**
   * Calls a procedure that may change what the observers of this process emit.
   * @throws {QueueLockError} for the reasons of `Steps.take`
   */
  async take(procedure: string, ...values: readonly Value[]): Promise<Answer> {
    const response = await this.steps.take(procedure, ...values);
    this.observers.readSoon();
    return response;
  }

  async eraseTraces(queue: string, traces: readonly string[]): Promise<void> {
    const ords = traces.map((ord) => BigInt(ord)).join(', ');
    await this.steps.write(
      `delete from queuelock_trace where queue = ${literal(queue)} and ord in (${ords})`,
    );
  }

  /**
   * Returns a number for a new request of a session. The number grows with each request. By it, a late reply
   * to an earlier request does not replace the data from a later one.
   */
  nextCall(): number {
    return (this.#calls += 1);
  }

  /** Registers a session. The connection notifies it of admitted entries until `leave` is called. */
  settle(resident: Resident): void {
    this.#residents.set(resident.id, resident);
  }

  leave(resident: Resident): void {
    // Removes the session only if the map still contains this object. If a session with the same id was
    // resumed in this process, another object has replaced it.
    if (this.#residents.get(resident.id) === resident) this.#residents.delete(resident.id);
  }

  /**
   * Starts the polls for a waiting entry of this process. The entry may be admitted after `inFront` other
   * entries have left.
   */
  waits(inFront: number): void {
    this.#rounds.begin(Math.max(1, inFront));
  }

  /** Removes unused rows of the database, at most every 10 minutes. Each heartbeat calls this method. */
  tidySoon(): void {
    if (this.#clock.now() - this.#tidiedAt < TIDY_EVERY_MS) return;
    this.#tidiedAt = this.#clock.now();
    // Ignores a failed removal of unused rows, because a later call repeats it.
    this.steps.take('tidy').catch(() => undefined);
  }

  /** Ends expired sessions. After a failure, the next read that finds an expired session calls this method again. */
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
      const rows = await this.steps.read<PollRow>(roundQuery(ids, waiting));
      this.#notify(residents, rows);
      const conflicts = rows.filter(({ kind }) => kind === 4);
      const ahead = conflicts.map(({ b, c }) => [Number(b), Number(c)] as const);
      for (const { a, b } of conflicts) {
        const first = waiting[Number(b)];
        if (first && mayHold(first, Number(textOf(a)))) this.#mendLater(first);
      }
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

  #admit(session: string, ref: string): void {
    this.#residents.get(session)?.entries.notify(ref, true, this.#calls);
  }

  #notify(residents: readonly Resident[], rows: readonly PollRow[]): void {
    const sessions = new Map(rows.filter(({ kind }) => kind === 2).map((row) => [textOf(row.a), row]));
    // Handles the ends of sessions before the admissions, because an admission counts only while its session
    // belongs to this process.
    for (const resident of residents) {
      const found = sessions.get(resident.id);
      if (found) resident.seen(Number(found.b), Number(found.c));
      else resident.seen(undefined, 0);
    }
    for (const { kind, a, b } of rows) if (kind === 1) this.#admit(textOf(a), String(b));
    if (rows.some(({ kind }) => kind === 3)) this.sweepSoon();
  }

  #isAsBefore(ahead: string): boolean {
    const isQuiet = ahead === this.#ahead;
    this.#ahead = ahead;
    return isQuiet;
  }

  /**
   * Repairs a queue in which an entry waits although it may hold, if the entry is still waiting. Such a state
   * is normal for a moment between two statements. The state lasts if an operator has deleted an entry ahead
   * by hand, because then no step admits the next one.
   */
  #mendLater({ queue, key }: Placed): void {
    const waits = [...this.#residents.values()].some(({ entries }) =>
      [...entries.waiting].some((placed) => placed.key === key),
    );
    if (waits) this.take('mend', queue).catch(() => undefined);
  }
}
