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
  /** Connections for statements about a busy connection: checking or ending its process in the server. */
  readonly pool: Pool;
  /** Whether each connection keeps one server process as long as it is open, which a pooler in transaction mode prevents. */
  readonly hasOwn: () => Promise<boolean>;
  /** Maximum number of unused connections that are kept open. */
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

  /** Resolves with a connection for exclusive use. @throws {QueueLockError} `INVALID_ARGUMENT` behind a pooler in transaction mode */
  async take(ttlMs: number): Promise<AdvisoryWire> {
    await this.requireOwn();
    for (let spare = this.#spare.pop(); spare; spare = this.#spare.pop()) {
      // The server may be about to end an unused connection, so it is prepared anew and thereby tested.
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

  /** @throws {QueueLockError} `INVALID_ARGUMENT` when connections do not keep one server process */
  async requireOwn(): Promise<void> {
    if (await this.#around.hasOwn()) return;
    const { endpoint } = this.#around.driver;
    const rule =
      'is for a server that is reached directly, or by a pooler in session mode: an advisory lock belongs to a connection, and here each transaction may get another one';
    throw invalidArgument('advisoryKey', endpoint, rule);
  }

  /** Takes back a connection that holds no lock any more. */
  giveBack(wire: AdvisoryWire): void {
    wire.onEnd = () => {
      this.drop(wire);
    };
    const { driver, spare } = this.#around;
    // The application must not get a connection with changed settings, so a pool's connection is closed.
    if (driver.isShared || this.#isClosed || this.#spare.length >= spare) this.drop(wire);
    else if (this.#all.has(wire)) this.#spare.push(wire);
  }

  /** Closes a connection that broke or is not needed. */
  drop(wire: AdvisoryWire): void {
    if (!this.#all.delete(wire)) return;
    const place = this.#spare.indexOf(wire);
    if (place >= 0) this.#spare.splice(place, 1);
    wire.release(true);
  }

  /** Closes a connection and ends its process in the server, which does not notice a closed connection while it waits for a lock. Never rejects. */
  async end(wire: AdvisoryWire): Promise<void> {
    wire.onEnd = () => undefined;
    await this.#ask(`select pg_terminate_backend(pid) ${WHICH}`, wire.process).catch(() => undefined);
    this.drop(wire);
  }

  /** Returns whether the server's process of the connection still exists. Rejects when that is unknown. */
  async isThere(wire: AdvisoryWire): Promise<boolean> {
    return (await this.#ask(`select ${WHICH}`, wire.process)).length > 0;
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

  #ask(text: string, { pid, started }: ServerProcess): ReturnType<Pool['run']> {
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
