import type { Clock } from '@queuelock/core/backend';
import type { AdvisoryLock } from './advisory-key.ts';
import type { Wire } from '../driver/driver.ts';
import { within } from '../base/within.ts';

type Rows = readonly Record<string, unknown>[];

/**
 * The server's process behind a connection. The start time distinguishes it from a later process with the
 * same process id.
 */
export interface ServerProcess {
  readonly pid: number;
  readonly started: string;
}

/**
 * The timeout of a statement about an advisory lock, and the server's address for the error of that timeout.
 */
export interface Bound {
  readonly clock: Clock;
  readonly withinMs: number;
  readonly endpoint: string;
}

/**
 * The statement that prepares a connection for an advisory lock. From version 14 on, it makes the server end
 * the connection when it sends nothing for a TTL. The server then frees its lock, as if a lease had expired.
 * Waiting for a lock does not count as idle. All other timeouts of the server are switched off, because
 * ending a wait would lose the position in the server's own queue.
 */
const BEGIN = `select pg_backend_pid() as pid,
  (select extract(epoch from backend_start)::text from pg_stat_activity where pid = pg_backend_pid()) as started,
  set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
  case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', false) end,
  case when current_setting('idle_session_timeout', true) is not null then set_config('idle_session_timeout', $1, false) end`;

/** A connection for one advisory lock. The server frees the lock, or ends the wait for it, when the connection ends. */
export class AdvisoryWire {
  /** Called when the connection breaks. The code that has taken the connection sets this callback. */
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

  /**
   * Prepares the connection for an advisory lock. The caller must send a statement at least every `ttlMs`
   * milliseconds, except while it waits for a lock.
   */
  async begin(ttlMs: number): Promise<void> {
    const [row] = await this.#request(BEGIN, [String(Math.ceil(ttlMs))]);
    this.#process = { pid: Number(row?.['pid']), started: String(row?.['started']) };
  }

  /** Waits for the advisory lock without a timeout. */
  async lock({ args, values, shared }: AdvisoryLock): Promise<void> {
    await this.#wire.query(`select pg_advisory_lock${shared ? '_shared' : ''}(${args})`, values);
  }

  async tryLock({ args, values, shared }: AdvisoryLock): Promise<boolean> {
    const text = `select pg_try_advisory_lock${shared ? '_shared' : ''}(${args}) as done`;
    const [row] = await this.#request(text, values);
    return row?.['done'] === true;
  }

  /**
   * Converts the exclusive advisory lock to a shared one: takes the shared lock first, and then releases the
   * exclusive one. The server grants the shared lock at once, because this connection holds the exclusive
   * one. So no other program can hold the lock in between.
   */
  async share({ args, values }: AdvisoryLock): Promise<void> {
    await this.#request(`select pg_advisory_lock_shared(${args})`, values);
    await this.#request(`select pg_advisory_unlock(${args})`, values);
  }

  async unlock(): Promise<void> {
    await this.#request('select pg_advisory_unlock_all()');
  }

  /**
   * Rejects if the connection is broken, or if the server process behind it is no longer the process that has
   * the advisory lock.
   */
  async prove(): Promise<void> {
    const [row] = await this.#request('select pg_backend_pid() as pid');
    if (row?.['pid'] !== this.#process.pid) throw new Error('the connection belongs to another session');
  }

  release(broken: boolean): void {
    this.#wire.release(broken);
  }

  #request(text: string, values?: readonly unknown[]): Promise<Rows> {
    const { clock, withinMs: ms, endpoint } = this.#bound;
    return within({ clock, ms, endpoint }, this.#wire.query(text, values));
  }
}
