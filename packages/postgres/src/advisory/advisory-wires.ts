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
  /** Whatever ends or looks for the process of a connection that is busy goes over others. */
  readonly pool: Pool;
  /** Whether each connection is one of the server's, for as long as it is open. */
  readonly hasOwn: () => Promise<boolean>;
  /** How many that nobody uses are kept. */
  readonly spare: number;
}

/** The connections of advisory locks, one for each that is held or waited for. */
export class AdvisoryWires {
  readonly #around: Around;
  readonly #all = new Set<AdvisoryWire>();
  readonly #spare: AdvisoryWire[] = [];
  #isClosed = false;

  constructor(around: Around) {
    this.#around = around;
  }

  /** One to use alone. @throws {QueueLockError} `INVALID_ARGUMENT` behind a pooler that gives connections away */
  async take(ttlMs: number): Promise<AdvisoryWire> {
    await this.requireOwn();
    for (let spare = this.#spare.pop(); spare; spare = this.#spare.pop()) {
      // The server may be about to end it.
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

  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  async requireOwn(): Promise<void> {
    if (await this.#around.hasOwn()) return;
    const { endpoint } = this.#around.driver;
    const rule =
      'is for a server that is reached directly, or by a pooler in session mode: an advisory lock belongs to a connection, and here each transaction may get another one';
    throw invalidArgument('advisoryKey', endpoint, rule);
  }

  /** Nothing is locked on it any more. */
  giveBack(wire: AdvisoryWire): void {
    wire.onEnd = () => {
      this.drop(wire);
    };
    const { driver, spare } = this.#around;
    // What was set on it is nothing for others.
    if (driver.isShared || this.#isClosed || this.#spare.length >= spare) this.drop(wire);
    else if (this.#all.has(wire)) this.#spare.push(wire);
  }

  /** It broke, or is of no use. */
  drop(wire: AdvisoryWire): void {
    if (!this.#all.delete(wire)) return;
    const place = this.#spare.indexOf(wire);
    if (place >= 0) this.#spare.splice(place, 1);
    wire.release(true);
  }

  /** Ends it in the server as well, which looks at no connection while it waits for a lock. Never rejects. */
  async end(wire: AdvisoryWire): Promise<void> {
    wire.onEnd = () => undefined;
    await this.#ask(`select pg_terminate_backend(pid) ${WHICH}`, wire.process).catch(() => undefined);
    this.drop(wire);
  }

  /** Whether the server still waits on it. Rejects when that is unknown. */
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
