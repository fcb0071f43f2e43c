import { connectionClosed, invalidArgument } from '@queuelock/core/backend';
import { AdvisoryWire, type Bound, type ServerProcess } from './advisory-wire.ts';
import type { Driver } from '../driver/driver.ts';
import { asQueueLockError } from '../driver/errors.ts';
import type { Opener } from '../server/opener.ts';
import type { Pool } from '../server/pool.ts';

const WHICH = 'from pg_stat_activity where pid = $1 and extract(epoch from backend_start)::text = $2';

interface Around extends Omit<Bound, 'endpoint'> {
  readonly driver: Driver;
  readonly opener: Opener;
  /**
   * The connections for steps. Over them the backend checks or ends the server process of a connection that
   * waits for an advisory lock.
   */
  readonly pool: Pool;
  /**
   * Returns whether the server gives each connection a process of its own, for as long as the connection is
   * open. Behind a pooler in transaction mode it does not.
   */
  readonly hasOwn: () => Promise<boolean>;
  /** Maximum number of unused connections for advisory locks that are kept open. */
  readonly spare: number;
}

/** The connections for advisory locks: one for each lock that is held or waited for. */
export class AdvisoryWires {
  readonly #around: Around;
  readonly #all = new Set<AdvisoryWire>();
  readonly #spare: AdvisoryWire[] = [];
  #isClosed = false;

  constructor(around: Around) {
    this.#around = around;
  }

  /**
   * Resolves with a connection for one advisory lock.
   * @throws {QueueLockError} `INVALID_ARGUMENT` behind a pooler in transaction mode, or the error of a failed
   * attempt to connect
   */
  async take(ttlMs: number): Promise<AdvisoryWire> {
    await this.requireOwn();
    for (let spare = this.#spare.pop(); spare; spare = this.#spare.pop()) {
      // The server may have ended an unused connection. Preparing the connection again also tests whether it
      // works.
      if (await began(spare, ttlMs)) return spare;
      this.drop(spare);
    }
    const wire = await this.#open();
    try {
      await wire.begin(ttlMs);
      return wire;
    } catch (error) {
      this.drop(wire);
      throw asQueueLockError(error, this.#around.driver);
    }
  }

  /**
   * Checks that each connection keeps one server process.
   * @throws {QueueLockError} `INVALID_ARGUMENT` behind a pooler in transaction mode, where it does not
   */
  async requireOwn(): Promise<void> {
    if (await this.#around.hasOwn()) return;
    const { endpoint } = this.#around.driver;
    const rule =
      'is for a server that is reached directly, or by a pooler in session mode: an advisory lock belongs to a connection, and here each transaction may get another one';
    throw invalidArgument('advisoryKey', endpoint, rule);
  }

  /**
   * Takes back a connection that no longer holds an advisory lock. Keeps the connection for later use, or
   * closes it.
   */
  giveBack(wire: AdvisoryWire): void {
    wire.onEnd = () => {
      this.drop(wire);
    };
    const { driver, spare } = this.#around;
    // Closes a connection of the application's pool, because its changed settings would affect the
    // application.
    if (driver.isShared || this.#isClosed || this.#spare.length >= spare) this.drop(wire);
    else if (this.#all.has(wire)) this.#spare.push(wire);
  }

  /** Closes a connection for an advisory lock, because it broke or is not needed. */
  drop(wire: AdvisoryWire): void {
    if (!this.#all.delete(wire)) return;
    const place = this.#spare.indexOf(wire);
    if (place >= 0) this.#spare.splice(place, 1);
    wire.release(true);
  }

  /**
   * Closes a connection for an advisory lock, and ends its process in the server over another connection.
   * While the process waits for a lock, it would not notice that the connection was closed. Never rejects.
   */
  async end(wire: AdvisoryWire): Promise<void> {
    wire.onEnd = () => undefined;
    await this.#request(`select pg_terminate_backend(pid) ${WHICH}`, wire.process).catch(() => undefined);
    this.drop(wire);
  }

  /** Returns whether the server process of the connection still exists. Rejects when the server does not respond. */
  async isThere(wire: AdvisoryWire): Promise<boolean> {
    return (await this.#request(`select ${WHICH}`, wire.process)).length > 0;
  }

  close(): void {
    this.#isClosed = true;
    for (const wire of [...this.#all]) this.drop(wire);
  }

  async #open(): Promise<AdvisoryWire> {
    const { driver, opener, clock, withinMs } = this.#around;
    const its: { wire?: AdvisoryWire } = {};
    const opened = await opener.open({
      onMessage: () => undefined,
      onEnd: () => {
        its.wire?.onEnd();
      },
    });
    its.wire = new AdvisoryWire(opened, { clock, withinMs, endpoint: driver.endpoint });
    this.#all.add(its.wire);
    if (this.#isClosed) {
      this.drop(its.wire);
      throw connectionClosed(driver.endpoint);
    }
    return its.wire;
  }

  #request(text: string, { pid, started }: ServerProcess): ReturnType<Pool['run']> {
    return this.#around.pool.run(text, [pid, started]);
  }
}

async function began(wire: AdvisoryWire, ttlMs: number): Promise<boolean> {
  try {
    await wire.begin(ttlMs);
    return true;
  } catch {
    return false;
  }
}
