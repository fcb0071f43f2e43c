import { randomBytes } from 'node:crypto';
import { sessionLost } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { machineTime, type ProcessMark } from '../base/machine.ts';
import { storedWhole } from './stored.ts';

/**
 * The shortest lease in milliseconds. It allows for a busy process, which can be late by some tens of
 * milliseconds.
 */
export const MIN_TTL_MS = 200;

/**
 * A session as a client uses it. A client that resumes the session creates a new generation, and the clients of
 * earlier generations can no longer use it.
 */
export interface SessionGeneration {
  readonly id: string;
  /** The session's number, by which its entries refer to it. */
  readonly num: number;
  readonly generation: number;
  readonly ttlMs: number;
}

/** The process of a session, and the socket that receives its notifications. */
export interface Home extends ProcessMark {
  readonly inbox: string;
}

const LARGEST_PID = 2 ** 31 - 1;

/**
 * Parses where a session lives: its process, and the socket for its notifications. Other programs can write
 * to the file. If a value is invalid, the result has neither namespace nor socket, so that an invalid value
 * has no effect.
 */
export function homeFrom({ inbox, pid, started, namespace }: Readonly<Record<keyof Home, unknown>>): Home {
  const isHome =
    typeof inbox === 'string' &&
    typeof pid === 'number' &&
    Number.isInteger(pid) &&
    pid > 0 &&
    pid <= LARGEST_PID &&
    typeof started === 'string' &&
    /^\d*$/.test(started) &&
    typeof namespace === 'string' &&
    /^(?:pid:\[\d+\])?$/.test(namespace);
  return isHome ? { inbox, pid, started, namespace } : { inbox: '', pid: 0, started: '', namespace: '' };
}

interface Row {
  readonly num: number;
  readonly generation: unknown;
  readonly ttl: unknown;
}

/** The table of sessions. All methods except `earliestEnd` and `home` are called within a step. */
export class Sessions {
  readonly #insert: Statement;
  readonly #renew: Statement;
  readonly #alive: Statement;
  readonly #byId: Statement;
  readonly #resume: Statement;
  readonly #release: Statement;
  readonly #delete: Statement;
  readonly #expired: Statement;
  readonly #earliest: Statement;
  readonly #home: Statement;
  readonly #at: Statement;

  #noneEndsBefore = 0;

  constructor(db: Database) {
    this.#insert = db.prepare(
      'insert into session (id, generation, ttl, expires, inbox, pid, started, namespace) values (?, 1, ?, ?, ?, ?, ?, ?) returning num',
    );
    this.#renew = db.prepare('update session set expires = ? + ttl where num = ? and generation = ?');
    this.#alive = db.prepare('select 1 from session where num = ? and generation = ?');
    this.#byId = db.prepare('select num, generation, ttl from session where id = ?');
    this.#resume = db.prepare(
      'update session set generation = generation + 1, expires = ? + ttl, inbox = ?, pid = ?, started = ?, namespace = ? where num = ?',
    );
    this.#release = db.prepare(`update session set namespace = '' where num = ? and generation = ?`);
    this.#delete = db.prepare('delete from session where num = ?');
    // A lease ends at most one TTL from now. A lease with a later end was written before a restart of the
    // machine that the operating system did not report.
    this.#expired = db.prepare('select num from session where expires <= ?1 or expires > ?1 + ttl');
    this.#earliest = db.prepare('select min(expires) as expires from session');
    this.#home = db.prepare('select inbox, pid, started, namespace from session where num = ?');
    this.#at = db.prepare(
      'select num from session where inbox = ? and pid = ? and started = ? and namespace = ?',
    );
  }

  open(ttlMs: number, { inbox, pid, started, namespace }: Home): SessionGeneration {
    const id = randomBytes(16).toString('hex');
    const ttl = Math.ceil(ttlMs * 1_000);
    const row = this.#insert.get(id, ttl, machineTime() + ttl, inbox, pid, started, namespace);
    return { id, num: (row as Row).num, generation: 1, ttlMs };
  }

  /** Renews the lease of a session for the whole TTL from now on. */
  renew(tenancy: SessionGeneration): void {
    const { changes } = this.#renew.run(machineTime(), tenancy.num, tenancy.generation);
    if (Number(changes) === 0) throw sessionLost(tenancy.id);
  }

  /** @throws {QueueLockError} `SESSION_LOST` when the session has ended */
  requireAlive(tenancy: SessionGeneration): void {
    if (!this.isAlive(tenancy)) throw sessionLost(tenancy.id);
  }

  isAlive({ num, generation }: SessionGeneration): boolean {
    return this.#alive.get(num, generation) !== undefined;
  }

  /** Resumes a session for the process `home`, as a new generation. */
  resume(id: string, { inbox, pid, started, namespace }: Home): SessionGeneration {
    const row = this.#byId.get(id) as Row | undefined;
    if (!row) throw sessionLost(id);
    const { num } = row;
    const generation = storedWhole(row.generation, 'session.generation', 1);
    const ttl = storedWhole(row.ttl, 'session.ttl', MIN_TTL_MS * 1_000);
    this.#resume.run(machineTime(), inbox, pid, started, namespace, num);
    return { id, num, generation: generation + 1, ttlMs: ttl / 1_000 };
  }

  /** Detaches a session from its process: from now on, only its lease ends it. */
  release({ num, generation }: SessionGeneration): void {
    this.#release.run(num, generation);
  }

  delete(num: number): void {
    this.#delete.run(num);
  }

  /**
   * Returns the sessions whose lease has expired. Reads the table only when the earliest possible end of a lease, which this object remembers, has
   * passed.
   */
  expired(): readonly number[] {
    const now = machineTime();
    if (now < this.#noneEndsBefore) return [];
    const nums = (this.#expired.all(now) as readonly Row[]).map(({ num }) => num);
    this.#noneEndsBefore = Math.min(this.earliestEnd() ?? Infinity, now + MIN_TTL_MS * 1_000);
    return nums;
  }

  /** Returns the time at which the next lease ends unless it is renewed. */
  earliestEnd(): number | undefined {
    return (this.#earliest.get() as { readonly expires: number | null }).expires ?? undefined;
  }

  /** Returns the process of a session and its notification socket; `undefined` when the session has ended. */
  home(num: number): Home | undefined {
    const row = this.#home.get(num);
    return row === undefined ? undefined : homeFrom(row as Readonly<Record<keyof Home, unknown>>);
  }

  /** Returns the numbers of the sessions that end when the process `home` ends. */
  at({ inbox, pid, started, namespace }: Home): readonly number[] {
    return (this.#at.all(inbox, pid, started, namespace) as readonly Row[]).map(({ num }) => num);
  }
}
