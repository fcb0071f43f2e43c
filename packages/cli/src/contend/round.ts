import { setTimeout as pause } from 'node:timers/promises';
import { isQueueLockError, type ClaimState, type LockClient, type Ownership } from '@queuelock/core';
import { redact } from '../secrets.ts';
import { entryFields, type ContendEvent, type EntryFields } from './event.ts';

/**
 * The client and the queue of a contender, and the listeners for its rounds. A round is one join, hold and
 * release.
 */
export interface Contender {
  readonly client: LockClient;
  readonly name: string;
  readonly id: string;
  readonly holdMs: number;
  /** Aborted to stop the contender, which then leaves the queue or releases the lock. */
  readonly stop: AbortSignal;
  readonly stamp: () => string;
  readonly emit: (event: ContendEvent) => void;
  /** Called when a hold begins. The contender releases the lock when the returned signal aborts. */
  readonly onHold?: (ownership: Ownership) => AbortSignal | undefined;
}

export type RoundEnd = 'released' | 'lost' | 'cancelled';

type Ended = Extract<ClaimState, { status: 'ended' }>;

/**
 * Joins the queue once, holds the lock and releases it. Emits the events in the order in which they happen.
 * If the lock is not granted, rejects with the error, and emits it as an event too.
 */
export function contendOnce(contender: Contender, n: number): Promise<RoundEnd> {
  return new Round(contender, n).run();
}

type Details = Partial<ContendEvent>;

class Round {
  readonly #contender: Contender;
  readonly #n: number;
  #entry: EntryFields = {};
  #enqueued = false;
  #holding: Promise<void> | undefined;
  #isReleasing = false;

  constructor(contender: Contender, n: number) {
    this.#contender = contender;
    this.#n = n;
  }

  run(): Promise<RoundEnd> {
    const { client, name, id, stop } = this.#contender;
    const claim$ = client.claim(name, { signal: stop, owner: id });
    this.#emit('requesting');
    return new Promise((resolve, reject) => {
      const follow = (state: ClaimState): void => {
        if (state.status === 'queued') this.#enqueue(entryFields(state));
        if (state.status === 'held' || state.status === 'suspect')
          this.#holding ??= this.#runHold(state.ownership);
        if (state.status === 'ended') this.#end(state).then(resolve, reject);
      };
      claim$.subscribe({ next: follow, error: reject });
    });
  }

  #enqueue(entry: EntryFields): void {
    if (this.#enqueued) return;
    this.#enqueued = true;
    this.#entry = entry;
    this.#emit('enqueued');
  }

  async #runHold(ownership: Ownership): Promise<void> {
    this.#enqueue(entryFields(ownership));
    this.#emit('acquired');
    const early = this.#contender.onHold?.(ownership);
    await this.#hold(early ? [ownership.signal, early] : [ownership.signal]);
    const t = this.#contender.stamp();
    if (!ownership.held) return;
    this.#isReleasing = true;
    await ownership.release();
    this.#emit('released', { t, t_done: this.#contender.stamp() });
  }

  async #hold(ends: readonly AbortSignal[]): Promise<void> {
    const { holdMs, stop } = this.#contender;
    if (holdMs === 0) return;
    const cut = AbortSignal.any([stop, ...ends]);
    await pause(holdMs, undefined, { signal: cut }).catch((error: unknown) => {
      if (!cut.aborted) throw error;
    });
  }

  async #end(ending: Ended): Promise<RoundEnd> {
    const t = this.#contender.stamp();
    await this.#holding;
    // When the session ends after the contender has requested the release, the round counts as released and
    // not as lost.
    if (ending.outcome === 'released' || this.#isReleasing) return 'released';
    if (ending.outcome === 'lost') {
      this.#emit('lost', { t, reason: ending.error.reason ?? ending.error.code });
      return 'lost';
    }
    if (this.#contender.stop.aborted && ending.error === this.#contender.stop.reason) {
      this.#emit('cancelled', { t });
      return 'cancelled';
    }
    this.#emit('error', { t, ...errorDetails(ending.error) });
    throw ending.error;
  }

  #emit(ev: ContendEvent['ev'], { t = this.#contender.stamp(), ...details }: Details = {}): void {
    const { id, name, emit } = this.#contender;
    emit({ t, id, ev, name, ...this.#entry, n: this.#n, ...details });
  }
}

function errorDetails(error: unknown): Pick<ContendEvent, 'code' | 'message'> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { code: isQueueLockError(error) ? error.code : name, message: redact(message) };
}
