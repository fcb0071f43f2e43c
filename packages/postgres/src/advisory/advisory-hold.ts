import { repeatUntilDefinite } from '@queuelock/core/backend';
import type { AdvisoryLock } from './advisory-key.ts';
import type { AdvisoryWire } from './advisory-wire.ts';
import type { AdvisoryWires } from './advisory-wires.ts';
import { asQueueLockError } from '../driver/errors.ts';

interface Settings {
  readonly wires: AdvisoryWires;
  readonly lock: AdvisoryLock;
  readonly ttlMs: number;
  readonly endpoint: string;
}

/** The advisory lock of one entry, in one of four states: not requested yet, waited for, held, or released. */
export class AdvisoryHold {
  /** Called when the connection that held the advisory lock broke, so that the lock is lost. */
  onLost: () => void = () => undefined;
  readonly #settings: Settings;
  readonly #over = new AbortController();
  #wire: AdvisoryWire | undefined;
  #isHeld = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Waits for the advisory lock in the server's own queue of advisory locks. If the connection breaks, waits
   * again on a new connection.
   * @throws {QueueLockError} when a retry cannot succeed, or after a call of `free`
   */
  async take(): Promise<void> {
    await repeatUntilDefinite(async () => {
      await this.#on(async (wire) => {
        await wire.lock(this.#settings.lock);
        return true;
      });
    }, this.#over.signal);
  }

  /** Takes the advisory lock if it is free. @returns whether it is held now @throws {QueueLockError} the error that `asQueueLockError` returns */
  async try(): Promise<boolean> {
    return this.#on((wire) => wire.tryLock(this.#settings.lock));
  }

  /** Converts the held advisory lock to a shared one. If that fails, the lock counts as lost. */
  async share(): Promise<void> {
    await this.#wire?.share(this.#settings.lock).catch(() => this.#lose());
  }

  /**
   * Checks that the connection still holds the advisory lock. While the lock is only requested, checks that
   * the connection's process in the server still waits for it. Never rejects.
   */
  async verify(): Promise<void> {
    const wire = this.#wire;
    if (!wire) return;
    if (this.#isHeld) await wire.prove().catch(() => this.#lose());
    else if (!(await this.#settings.wires.isThere(wire).catch(() => true))) this.#settings.wires.drop(wire);
  }

  /**
   * Releases the advisory lock. Resolves when the lock is free. Also resolves if this process cannot reach
   * the server, which then frees the lock later. Never rejects.
   */
  async free(): Promise<void> {
    this.#over.abort();
    const wire = this.#wire;
    this.#wire = undefined;
    if (!wire) return;
    const { wires } = this.#settings;
    const isHeld = this.#isHeld;
    this.#isHeld = false;
    try {
      if (!isHeld) throw new Error('the server may still grant the advisory lock');
      await wire.unlock();
      wires.giveBack(wire);
    } catch {
      await wires.end(wire);
    }
  }

  async #on(lock: (wire: AdvisoryWire) => Promise<boolean>): Promise<boolean> {
    const { wires, ttlMs } = this.#settings;
    const wire = await wires.take(ttlMs);
    if (this.#over.signal.aborted) {
      wires.giveBack(wire);
      this.#over.signal.throwIfAborted();
    }
    this.#wire = wire;
    wire.onEnd = () => {
      this.#broke(wire);
    };
    try {
      const isHeld = await lock(wire);
      // Throws if `free` was called during the wait. That call of `free` has ended the connection.
      this.#over.signal.throwIfAborted();
      this.#isHeld = isHeld;
    } catch (error) {
      await wires.end(wire);
      throw asQueueLockError(error, this.#settings);
    } finally {
      if (!this.#isHeld && this.#wire === wire) this.#wire = undefined;
    }
    if (!this.#isHeld) wires.giveBack(wire);
    return this.#isHeld;
  }

  #broke(wire: AdvisoryWire): void {
    if (this.#wire !== wire) return;
    // While this process only waits for the advisory lock, nothing is lost. The pending statement rejects,
    // and the wait is repeated on a new connection.
    if (this.#isHeld) this.#lose();
    else this.#settings.wires.drop(wire);
  }

  #lose(): void {
    if (!this.#isHeld) return;
    this.onLost();
    const wire = this.#wire;
    this.#wire = undefined;
    this.#isHeld = false;
    this.#over.abort();
    if (wire) void this.#settings.wires.end(wire);
  }
}
