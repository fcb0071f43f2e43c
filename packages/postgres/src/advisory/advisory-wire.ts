import type { Clock } from '@queuelock/core/backend';
import type { AdvisoryLock } from './advisory-key.ts';
import type { Wire } from '../driver/driver.ts';
import { within } from '../base/within.ts';

type Rows = readonly Record<string, unknown>[];

/** The server's process behind a connection. The start time distinguishes it from a later process with the same number. */
export interface ServerProcess {
  readonly pid: number;
  readonly started: string;
}

/** Timeout of a statement, and the server for its error message. */
export interface Bound {
  readonly clock: Clock;
  readonly withinMs: number;
  readonly endpoint: string;
}

/**
 * Prepares a connection. A server from version 14 on ends a connection, and so its lock, that sends nothing for a TTL, as leases end. Waiting
 * for a lock does not count as idle. Other timeouts are switched off: ending a wait would lose the position in the server's queue.
 */
const BEGIN = `select pg_backend_pid() as pid,
  (select extract(epoch from backend_start)::text from pg_stat_activity where pid = pg_backend_pid()) as started,
  set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
  case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', false) end,
  case when current_setting('idle_session_timeout', true) is not null then set_config('idle_session_timeout', $1, false) end`;

/** A connection for one advisory lock. The server ties the lock, and the wait for it, to the connection. */
export class AdvisoryWire {
  /** Called when the connection breaks. The current user of the connection sets it. */
  onEnd: () => void = () => undefined;
  readonly #wire: Wire;
  readonly #bound: Bound;
  #process: ServerProcess = { pid: 0, started: '' };

  constructor(wire: Wire, bound: Bound) {
    this.#wire = wire;
    this.#bound = bound;
  }

  get process(): ServerProcess {
    return this.#process;
  }

  /** Prepares the connection. The caller must send a statement at least every `ttlMs` milliseconds, except while it waits for a lock. */
  async begin(ttlMs: number): Promise<void> {
    const [row] = await this.#ask(BEGIN, [String(Math.ceil(ttlMs))]);
    this.#process = { pid: Number(row?.['pid']), started: String(row?.['started']) };
  }

  /** Waits for the lock without a timeout. */
  async lock({ args, values, shared }: AdvisoryLock): Promise<void> {
    await this.#wire.query(`select pg_advisory_lock${shared ? '_shared' : ''}(${args})`, values);
  }

  async tryLock({ args, values, shared }: AdvisoryLock): Promise<boolean> {
    const text = `select pg_try_advisory_lock${shared ? '_shared' : ''}(${args}) as done`;
    const [row] = await this.#ask(text, values);
    return row?.['done'] === true;
  }

  /** Changes the lock to a shared one. No other program can take it in between, since a holder does not wait behind waiters. */
  async share({ args, values }: AdvisoryLock): Promise<void> {
    await this.#ask(`select pg_advisory_lock_shared(${args})`, values);
    await this.#ask(`select pg_advisory_unlock(${args})`, values);
  }

  async unlock(): Promise<void> {
    await this.#ask('select pg_advisory_unlock_all()');
  }

  /** Rejects unless the connection works and still leads to the server's process that has the lock. */
  async prove(): Promise<void> {
    const [row] = await this.#ask('select pg_backend_pid() as pid');
    if (row?.['pid'] !== this.#process.pid) throw new Error('the connection belongs to another session');
  }

  release(broken: boolean): void {
    this.#wire.release(broken);
  }

  #ask(text: string, values?: readonly unknown[]): Promise<Rows> {
    const { clock, withinMs: ms, endpoint } = this.#bound;
    return within({ clock, ms, endpoint }, this.#wire.query(text, values));
  }
}
