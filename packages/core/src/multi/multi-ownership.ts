import { CallerAbortController } from '../base/caller-context.ts';
import { checkedSignal } from '../base/checked-signal.ts';
import { type QueueLockError, invalidArgument, isQueueLockError } from '../api/errors.ts';
import type { MultiOwnership, Ownership } from '../api/hold-api.ts';

/** Combines several holds: it is held if all are held, lost if one is lost, and it releases all together. */
export class HeldTogether implements MultiOwnership {
  readonly names: readonly string[];
  readonly #holds: ReadonlyMap<string, Ownership>;
  readonly #loss = new CallerAbortController();
  #signal: AbortSignal | undefined;
  #released: Promise<void> | undefined;
  #lossError: QueueLockError | undefined;

  constructor(holds: readonly Ownership[]) {
    this.names = holds.map(({ name }) => name);
    this.#holds = new Map(holds.map((hold) => [hold.name, hold]));
    for (const hold of holds) hold.signal.addEventListener('abort', () => this.#lose(hold.signal.reason));
  }

  readonly of = (name: string): Ownership => {
    const hold = this.#holds.get(name);
    if (!hold) throw invalidArgument('name', name, `is one of ${JSON.stringify(this.names)}`);
    return hold;
  };

  get remainingMs(): number {
    if (this.#lossError || this.#released) return 0;
    return Math.min(...this.#all().map(({ remainingMs }) => remainingMs));
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  get signal(): AbortSignal {
    this.#signal ??= checkedSignal(this.#loss, () => this.held);
    return this.#signal;
  }

  readonly throwIfLost = (minRemainingMs?: number): void => {
    // Throws the error of the first loss. It is the cause of the other losses, because the client then released
    // the remaining holds.
    if (!this.held && this.#lossError) throw this.#lossError;
    for (const hold of this.#all()) hold.throwIfLost(minRemainingMs);
  };

  readonly release = (): Promise<void> => {
    this.#released ??= Promise.all(this.#all().map((hold) => hold.release())).then(() => undefined);
    return this.#released;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  toJSON(): object {
    const { names, held, remainingMs } = this;
    return { names, held, remainingMs, holds: this.#all() };
  }

  #all(): readonly Ownership[] {
    return [...this.#holds.values()];
  }

  #lose(reason: unknown): void {
    if (this.#released || this.#lossError || !isQueueLockError(reason)) return;
    this.#lossError = reason;
    this.#loss.abort(reason);
  }
}
