import type { Clock } from '@queuelock/core/backend';
import type { AdvisoryLock } from './advisory-key.ts';
import type { Wire } from '../driver/driver.ts';
import { within } from '../base/within.ts';

type Rows = readonly Record<string, unknown>[];

/** The server's process behind a connection. Its number alone may be another one's later. */
export interface ServerProcess {
  readonly pid: number;
  readonly started: string;
}

/** How long an answer may take, and who gives it. */
export interface Bound {
  readonly clock: Clock;
  readonly withinMs: number;
  readonly endpoint: string;
}

/**
 * A server (from 14 on) that hears nothing for so long ends the connection, and with it the lock, as it does with leases; a wait for a lock
 * is no silence. No other setting of the user's ends a wait, which would cost its place in the server's line.
 */
const BEGIN = `select pg_backend_pid() as pid,
  (select extract(epoch from backend_start)::text from pg_stat_activity where pid = pg_backend_pid()) as started,
  set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
  case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', false) end,
  case when current_setting('idle_session_timeout', true) is not null then set_config('idle_session_timeout', $1, false) end`;

/** A connection that one advisory lock lives on: the lock belongs to it, and so does the wait for the lock. */
export class AdvisoryWire {
  /** Whoever uses it hears when it breaks. */
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

  /** It is asked something at least that often. */
  async begin(ttlMs: number): Promise<void> {
    const [row] = await this.#ask(BEGIN, [String(Math.ceil(ttlMs))]);
    this.#process = { pid: Number(row?.['pid']), started: String(row?.['started']) };
  }

  /** Waits for it, however long that takes. */
  async lock({ args, values, shared }: AdvisoryLock): Promise<void> {
    await this.#wire.query(`select pg_advisory_lock${shared ? '_shared' : ''}(${args})`, values);
  }

  async tryLock({ args, values, shared }: AdvisoryLock): Promise<boolean> {
    const text = `select pg_try_advisory_lock${shared ? '_shared' : ''}(${args}) as done`;
    const [row] = await this.#ask(text, values);
    return row?.['done'] === true;
  }

  /** Lets in others who share it. Nobody comes between: who has a lock does not wait behind those who wait for it. */
  async share({ args, values }: AdvisoryLock): Promise<void> {
    await this.#ask(`select pg_advisory_lock_shared(${args})`, values);
    await this.#ask(`select pg_advisory_unlock(${args})`, values);
  }

  async unlock(): Promise<void> {
    await this.#ask('select pg_advisory_unlock_all()');
  }

  /** Rejects unless it is there, and leads to the process that has the lock. */
  async prove(): Promise<void> {
    const [row] = await this.#ask('select pg_backend_pid() as pid');
    if (row?.['pid'] !== this.#process.pid) throw new Error('the connection leads to another session');
  }

  release(broken: boolean): void {
    this.#wire.release(broken);
  }

  #ask(text: string, values?: readonly unknown[]): Promise<Rows> {
    const { clock, withinMs: ms, endpoint } = this.#bound;
    return within({ clock, ms, endpoint }, this.#wire.query(text, values));
  }
}
