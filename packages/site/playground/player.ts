import {
  createLockClient,
  type ClaimState,
  type LockClient,
  type Ownership,
  type QueueEntry,
} from '@queuelock/core';
import { memory, type MemoryServer } from '@queuelock/memory';
import type { Subscription } from 'rxjs';
import type { ArenaEvent, Disturbance } from '../../cli/src/arena/events.ts';
import { ContenderState, type PlayerSnapshot } from '../../cli/src/arena/contender-state.ts';
import type { ContendEvent } from '../../cli/src/contend/event.ts';
import { FreezableClock } from './frozen-clock.ts';
import { CuttableLink } from './link.ts';

/** The parameters of a contender, which the visitor can choose. */
export interface PlayerSettings {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly ttlMs: number;
  readonly server: MemoryServer;
  readonly stamp: () => string;
  readonly emit: (event: ArenaEvent) => void;
}

/** What the visitor can do to a contender. */
export type PlayerAct = 'release' | 'freeze' | 'thaw' | 'cut' | 'mend' | 'kill';

const HOLD_MS = 2_500;
const REST_MS = 400;

/**
 * A contender that acquires the lock again and again. It has its own lock client, clock and connection, as if
 * it were a process of its own.
 */
export class Player {
  readonly id: string;
  readonly #settings: PlayerSettings;
  readonly #clock = new FreezableClock();
  readonly #link = new CuttableLink(this.#clock);
  readonly #client: LockClient;
  readonly #state = new ContenderState();
  #claim: Subscription | undefined;
  #ownership: Ownership | undefined;
  #endHold: (() => void) | undefined;
  /**
   * Whether the contender wanted to release the lock while its connection was cut. It then releases when it
   * is connected again.
   */
  #isDue = false;
  /**
   * When the proven time of the hold ends, by the wall clock of the page. A frozen contender does not update
   * it.
   */
  #provenUntilMs = 0;
  #round = 0;
  #isKilled = false;

  constructor(settings: PlayerSettings) {
    const { id, server, ttlMs } = settings;
    this.id = id;
    this.#settings = settings;
    const backend = memory({ server, ...this.#link.options });
    this.#client = createLockClient(backend, { clock: this.#clock, owner: id, ttlMs });
    this.#join();
  }

  get isGone(): boolean {
    return this.#isKilled;
  }

  get snapshot(): PlayerSnapshot {
    const own = {
      id: this.id,
      pid: this.#settings.number,
      isFrozen: this.#isFrozen,
      isCut: this.#link.isCut,
    };
    if (this.#isKilled) return { ...own, isFrozen: false, status: 'gone', end: 'killed' };
    const { status, entry } = this.#state;
    const until = this.#ownership && this.#lookAtProvenTime();
    return { ...own, status, ...entry, ...(until === undefined ? {} : { provenUntil: until }) };
  }

  /** Updates the contender's state from the entries of the queue in the store. */
  update(entries: readonly QueueEntry[]): void {
    const isDeaf = this.#isFrozen || this.#link.isCut || this.#isKilled;
    if (this.#state.update(entries, isDeaf)) this.#emit('expired', {});
  }

  /**
   * Applies the visitor's action to the contender.
   * @throws {Error} if the action is not possible in the present state
   */
  act(act: PlayerAct): void {
    if (this.#isKilled) throw new Error(`${this.id} is gone`);
    this.#acts[act]();
  }

  async close(): Promise<void> {
    if (this.#isKilled) return;
    this.#link.mend();
    this.#clock.thaw();
    this.#claim?.unsubscribe();
    await this.#client.close();
  }

  readonly #acts: Record<PlayerAct, () => void> = {
    release: () => {
      if (!this.#ownership) throw new Error(`${this.id} does not hold`);
      if (this.#isFrozen || this.#link.isCut) throw new Error(`${this.id} is frozen or cut off`);
      this.#release();
    },
    freeze: () => {
      if (this.#isFrozen) throw new Error(`${this.id} is frozen already`);
      this.#disturbed('frozen', this.#provenUntil);
      this.#clock.freeze();
    },
    thaw: () => {
      if (!this.#isFrozen) throw new Error(`${this.id} is not frozen`);
      this.#disturbed('thawed');
      this.#clock.thaw();
    },
    cut: () => {
      if (this.#link.isCut) throw new Error(`${this.id} is cut off already`);
      this.#disturbed('cut', this.#provenUntil);
      this.#link.cut();
    },
    mend: () => {
      if (!this.#link.isCut) throw new Error(`${this.id} is not cut off`);
      this.#disturbed('mended');
      this.#link.mend();
      if (this.#isDue) this.#release();
    },
    kill: () => {
      const until = this.#provenUntil;
      this.#emit('crashed', until === undefined ? {} : { until });
      this.#isKilled = true;
      // After `kill`, no code of the contender runs again, as in a process that was killed.
      this.#clock.kill();
    },
  };

  get #isFrozen(): boolean {
    return this.#clock.isFrozen;
  }

  /** Returns when the proven time of the hold ends, as an ISO timestamp. */
  get #provenUntil(): string | undefined {
    if (!this.#ownership) return undefined;
    const left = this.#lookAtProvenTime() - Date.now();
    return left > 0 ? (BigInt(this.#settings.stamp()) + BigInt(Math.ceil(left * 1e6))).toString() : undefined;
  }

  /**
   * Returns when the proven time of the hold ends, in milliseconds since 1970. For a frozen contender, returns
   * the last known value: a new read could detect the loss of the hold, but a frozen process detects nothing.
   */
  #lookAtProvenTime(): number {
    if (this.#ownership && !this.#isFrozen) this.#provenUntilMs = Date.now() + this.#ownership.remainingMs;
    return this.#provenUntilMs;
  }

  #join(): void {
    this.#round += 1;
    this.#emit('requesting', {});
    this.#claim = this.#client.claim(this.#settings.name).subscribe((state) => {
      this.#follow(state);
    });
  }

  #follow(state: ClaimState): void {
    switch (state.status) {
      case 'queued':
        this.#emit('enqueued', { key: state.key, token: state.order.toString() });
        break;
      case 'held':
        if (this.#ownership) break;
        this.#hold(state.ownership);
        break;
      case 'ended':
        this.#endHold?.();
        this.#ownership = undefined;
        this.#isDue = false;
        if (state.outcome === 'lost') this.#emit('lost', { reason: state.error.reason ?? 'unknown reason' });
        if (state.outcome === 'failed') this.#emit('error', { message: messageOf(state.error) });
        this.#clock.after(REST_MS, () => {
          this.#join();
        });
        break;
      case 'joining':
      case 'suspect':
        break;
    }
  }

  #hold(ownership: Ownership): void {
    this.#ownership = ownership;
    this.#emit('acquired', { key: ownership.key, token: ownership.order.toString() });
    this.#isDue = false;
    this.#endHold = this.#clock.after(HOLD_MS, () => {
      if (this.#link.isCut) this.#isDue = true;
      else this.#release();
    });
  }

  /** Releases the lock if the contender still holds it. */
  #release(): void {
    const ownership = this.#ownership;
    if (!ownership?.held) return;
    this.#ownership = undefined;
    this.#endHold?.();
    this.#emit('released', {});
    this.#claim?.unsubscribe();
    this.#clock.after(REST_MS, () => {
      this.#join();
    });
  }

  #emit(
    ev: ContendEvent['ev'] | 'expired' | 'crashed',
    more: Partial<ContendEvent> & { readonly until?: string },
  ): void {
    const { stamp, name, emit } = this.#settings;
    const event = { t: stamp(), id: this.id, ev, name, n: this.#round, ...more } as ContendEvent;
    if (ev !== 'expired' && ev !== 'crashed') this.#state.follow(event);
    emit(event);
  }

  #disturbed(ev: Disturbance['ev'], until?: string): void {
    const { stamp, emit } = this.#settings;
    emit({ t: stamp(), id: this.id, ev, ...(until === undefined ? {} : { until }) });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
