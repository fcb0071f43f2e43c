import { isQueueLockError, type ClaimState, type LockClient, type Ownership } from '@queuelock/core';
import type { Effects } from './effects.ts';
import type { AttemptEvent, Resource } from './event.ts';
import type { Heartbeats } from './instrumented.ts';
import { HoldWatch } from './worker-looks.ts';
import { stampNow, type Recorder, type Told } from './worker-record.ts';

/** What attempts of one worker share. */
export interface AttemptSurroundings {
  readonly client: LockClient;
  readonly recorder: Recorder;
  readonly heartbeats: Heartbeats;
  readonly effects: Effects;
}

type ToldOfAttempt =
  Told<AttemptEvent> extends infer E ? (E extends unknown ? Omit<E, 'queue' | 'n'> : never) : never;

/** One attempt to hold one queue, from the request to its end, each step written down as it is seen. */
export class Attempt {
  readonly queue: string;
  readonly n: number;
  /** Resolves with the ownership, or with nothing when the attempt ended without one. */
  readonly granted: Promise<Ownership | undefined>;
  /** Resolves when nothing is left of it here. */
  readonly over: Promise<void>;
  readonly #around: AttemptSurroundings;
  readonly #giveUp = new AbortController();
  #ownership: Ownership | undefined;
  #watch: HoldWatch | undefined;
  #placed = false;
  #ended = false;
  #doubtful = false;
  #effects = 0;
  #grant!: (ownership: Ownership | undefined) => void;
  #end!: () => void;

  constructor(queue: string, n: number, around: AttemptSurroundings) {
    this.queue = queue;
    this.n = n;
    this.#around = around;
    this.granted = new Promise((resolve) => (this.#grant = resolve));
    this.over = new Promise((resolve) => (this.#end = resolve));
    this.#tell({ ev: 'enqueue' });
    around.client
      .claim(queue, { signal: this.#giveUp.signal })
      .subscribe({ next: (state) => this.#see(state), complete: () => this.#end() });
  }

  /** The present or last ownership. */
  get ownership(): Ownership | undefined {
    return this.#ownership;
  }

  /** Gives it up, whatever it is. Resolves when that is done. */
  async release(): Promise<void> {
    if (!this.#ownership) {
      this.cancel();
      return;
    }
    if (this.#ended) return;
    this.#ended = true;
    this.#watch?.stop();
    this.#tell({ ev: 'released' });
    await this.#ownership.release();
    this.#tell({ ev: 'left' });
  }

  /** Looks now, whatever was written of the look before. */
  look(): void {
    this.#watch?.look();
  }

  /** One write to each resource, as long as it is held. */
  async write(): Promise<void> {
    await Promise.all(
      this.#around.effects.resources.map((resource) => this.#write(resource, { evenIfLost: false })),
    );
  }

  /** One write to each resource with the token that it has or had last, without asking. */
  async writeUnasked(): Promise<void> {
    const { resources } = this.#around.effects;
    await Promise.all(resources.map((resource) => this.#write(resource, { evenIfLost: true })));
  }

  async #write(resource: Resource, { evenIfLost }: { readonly evenIfLost: boolean }): Promise<void> {
    const ownership = this.#ownership;
    if (!ownership) return;
    const t = stampNow();
    const believed = ownership.held;
    if (!believed && !evenIfLost) return;
    const { key, token } = ownership;
    const number = (this.#effects += 1);
    const sent = this.#around.effects.send(resource, { queue: this.queue, key, token, number, believed });
    const outcome = await sent;
    const answeredAt = stampNow();
    this.#tell({ ev: 'effect', t, resource, token: token.toString(), number, believed, outcome, answeredAt });
  }

  #see(state: ClaimState): void {
    if (state.status === 'held') this.#holds(state.ownership);
    if (state.status === 'queued') this.#isPlaced(state);
    if (state.status === 'doubtful' && !this.#ended) {
      this.#doubtful = true;
      this.#tell({ ev: 'doubt' });
    }
    if (state.status === 'ended') this.#ends(state);
  }

  #holds(ownership: Ownership): void {
    const t = stampNow();
    if (this.#ownership) {
      if (this.#doubtful && !this.#ended) this.#tell({ ev: 'sure', t });
      this.#doubtful = false;
      return;
    }
    this.#ownership = ownership;
    this.#isPlaced(ownership, t);
    const { token, order, remainingMs } = ownership;
    this.#tell({ ev: 'acquired', t, token: token.toString(), order: order.toString(), remainingMs });
    // Whatever tells it first: the listener is called inside of the look that finds it out.
    ownership.signal.addEventListener('abort', () => this.#isLost(ownership.signal.reason));
    this.#watch = new HoldWatch(ownership, (look, isNews) => {
      this.#around.recorder.tell({ ...look, queue: this.queue, n: this.n }, { quiet: !isNews });
    });
    this.#grant(ownership);
  }

  #isPlaced({ order, token, key }: Pick<Ownership, 'order' | 'token' | 'key'>, t = stampNow()): void {
    if (this.#placed) return;
    this.#placed = true;
    const session = this.#around.heartbeats.sessionOf(key);
    this.#tell({ ev: 'queued', t, order: order.toString(), token: token.toString(), key, session });
  }

  #ends(state: Extract<ClaimState, { status: 'ended' }>): void {
    if (state.outcome === 'lost') this.#isLost(state.error);
    if (state.outcome === 'failed' && !this.#ended) {
      this.#ended = true;
      const { error } = state;
      const code = isQueueLockError(error) ? error.code : 'UNKNOWN';
      this.#tell({ ev: 'failed', code, message: String(error) });
    }
    this.#watch?.stop();
    this.#grant(undefined);
  }

  #isLost(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const reason = isQueueLockError(error) ? (error.reason ?? error.code) : String(error);
    this.#tell({ ev: 'revoked', reason });
    this.#watch?.look();
    this.#watch?.stop();
  }

  /** Gives the wait up; does nothing once it is held. */
  cancel(): void {
    if (this.#ended || this.#ownership) return;
    this.#ended = true;
    this.#tell({ ev: 'cancelled' });
    this.#giveUp.abort(new Error('the worker gives the wait up'));
  }

  #tell(told: ToldOfAttempt): void {
    this.#around.recorder.tell({ queue: this.queue, n: this.n, ...told });
  }
}
