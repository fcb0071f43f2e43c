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

/** The advisory lock of one entry: not asked for, waited for, held, over. */
export class AdvisoryHold {
  /** It was held, and its connection is not there any more. */
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

  /** Waits for it in the server's own line; with another connection when one breaks. @throws {QueueLockError} what is definite, or when it was freed */
  async take(): Promise<void> {
    await repeatUntilDefinite(async () => {
      await this.#on(async (wire) => {
        await wire.lock(this.#settings.lock);
        return true;
      });
    }, this.#over.signal);
  }

  /** Takes it if nobody has it. @throws {QueueLockError} */
  async try(): Promise<boolean> {
    return this.#on((wire) => wire.tryLock(this.#settings.lock));
  }

  /** From now on it is shared; or lost. */
  async share(): Promise<void> {
    await this.#wire?.share(this.#settings.lock).catch(() => this.#lose());
  }

  /** While it is held: proves that it is. While it is waited for: finds out whether the server still does. Never rejects. */
  async beat(): Promise<void> {
    const wire = this.#wire;
    if (!wire) return;
    if (this.#isHeld) await wire.prove().catch(() => this.#lose());
    else if (!(await this.#settings.wires.isThere(wire).catch(() => true))) this.#settings.wires.drop(wire);
  }

  /** Resolves when others may have it, or it is left to the server to find out. Never rejects. */
  async free(): Promise<void> {
    this.#over.abort();
    const wire = this.#wire;
    this.#wire = undefined;
    if (!wire) return;
    const { wires } = this.#settings;
    const isHeld = this.#isHeld;
    this.#isHeld = false;
    try {
      if (!isHeld) throw new Error('it may still come');
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
      // Whoever has freed it meanwhile has ended the connection.
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
    // Whoever waits is told by the answer that does not come.
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
