import { anySignal, type SharedOwnership } from '@queuelock/core';
import type { Share } from './fair-share-api.ts';

/** The two permits of which a share consists. */
export interface SharePermits {
  readonly ofKey: SharedOwnership;
  readonly shared: SharedOwnership;
}

/**
 * A share, made of the permit of its key and the shared permit. The share is held while both permits are
 * held, and lost when one of them is lost.
 */
export class HeldShare implements Share {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly #permits: SharePermits;
  #released: Promise<void> | undefined;

  constructor(key: string, permits: SharePermits) {
    this.key = key;
    this.#permits = permits;
    this.signal = anySignal([permits.ofKey.signal, permits.shared.signal]);
  }

  get remainingMs(): number {
    const { ofKey, shared } = this.#permits;
    return Math.min(ofKey.remainingMs, shared.remainingMs);
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  readonly throwIfLost = (minRemainingMs?: number): void => {
    this.#permits.ofKey.throwIfLost(minRemainingMs);
    this.#permits.shared.throwIfLost(minRemainingMs);
  };

  readonly release = (): Promise<void> => {
    this.#released ??= this.#releaseBoth();
    return this.#released;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  toJSON(): object {
    const { key, held, remainingMs } = this;
    return { key, held, remainingMs, ...this.#permits };
  }

  async #releaseBoth(): Promise<void> {
    await this.#permits.shared.release();
    await this.#permits.ofKey.release();
  }
}
