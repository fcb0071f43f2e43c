import { heldByThisChain } from './call-chain.ts';
import type { Clock } from './clock.ts';
import { QueueLockError, invalidArgument } from './errors.ts';
import type { HandoverRequest, Ownership } from './hold-api.ts';
import type { AcquireOptions } from './options.ts';
import { merge, type Observable } from './rx.ts';
import { waitLimit, type WaitLimit } from './wait-limit.ts';

/** One hold of the server, and how many levels of it are open here. */
interface Shared {
  /** Whose client it is of. */
  readonly by: object;
  readonly hold: Ownership;
  levels: number;
}

/** What counts when a hold is entered again. */
export type ReentryOptions = Pick<AcquireOptions, 'signal' | 'timeoutMs' | 'needsMs'>;

/**
 * A hold that may be entered again from within. Each level has a line of its own: of those who enter from the same level, one is in at
 * a time. The hold is given back when all levels have been. (Java's and Curator's reentrant locks count per thread; an async call
 * chain has none, so the level that one stands on is what counts.)
 */
export class ReentrantOwnership implements Ownership {
  readonly depth: number;
  readonly #shared: Shared;
  readonly #leave: () => void;
  #line: Promise<void> = Promise.resolve();
  #released: Promise<void> | undefined;

  private constructor(shared: Shared, depth: number, leave: () => void) {
    this.depth = depth;
    this.#shared = shared;
    this.#leave = leave;
    shared.levels += 1;
  }

  static outermost(by: object, hold: Ownership): ReentrantOwnership {
    return new ReentrantOwnership({ by, hold, levels: 0 }, 1, () => undefined);
  }

  isOf(client: object, name: string): boolean {
    return this.#shared.by === client && this.name === name;
  }

  /** Another level, once those who entered from this one before have left. */
  async enter({ needsMs, ...patience }: ReentryOptions, clock: Clock): Promise<ReentrantOwnership> {
    const before = this.#line;
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#line = before.then(() => left);
    try {
      // Whoever is inside may not notice a loss for long.
      const lost$ = waitLimit({ signal: this.signal }, clock, () => undefined);
      await turnWithin(before, merge(patienceOf(patience, clock), lost$));
      this.throwIfLost(needsMs);
    } catch (error) {
      leave();
      throw error;
    }
    return new ReentrantOwnership(this.#shared, this.depth + 1, leave);
  }

  get name(): string {
    return this.#shared.hold.name;
  }

  get id(): string {
    return this.#shared.hold.id;
  }

  get key(): string {
    return this.#shared.hold.key;
  }

  get order(): bigint {
    return this.#shared.hold.order;
  }

  get token(): bigint {
    return this.#shared.hold.token;
  }

  get grantToken(): bigint | undefined {
    return this.#shared.hold.grantToken;
  }

  get shared(): boolean {
    return this.#shared.hold.shared;
  }

  get signal(): AbortSignal {
    return this.#shared.hold.signal;
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  get remainingMs(): number {
    return this.#released ? 0 : this.#shared.hold.remainingMs;
  }

  get requests$(): Observable<HandoverRequest> {
    return this.#shared.hold.requests$;
  }

  throwIfLost(needsMs?: number): void {
    this.#throwIfReleased();
    this.#shared.hold.throwIfLost(needsMs);
  }

  async downgrade(): Promise<void> {
    this.#throwIfReleased();
    await this.#shared.hold.downgrade();
  }

  async update(label: Parameters<Ownership['update']>[0]): Promise<void> {
    this.#throwIfReleased();
    await this.#shared.hold.update(label);
  }

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  async #release(): Promise<void> {
    this.#shared.levels -= 1;
    if (this.#shared.levels === 0) await this.#shared.hold.release();
    this.#leave();
  }

  #throwIfReleased(): void {
    if (this.#released)
      throw new QueueLockError('OWNERSHIP_LOST', `${JSON.stringify(this.name)} was released at this level`);
  }
}

/**
 * The hold to enter again, if that is what the call asks for. Waiting in the queue behind one's own call chain is a certain deadlock:
 * in a fair queue the new entry stands behind the hold that waits for it.
 * @throws {QueueLockError} `REENTRANT` when the running call chain holds the name and may not enter it again.
 */
export function holdToEnter(
  by: object,
  name: string,
  { within, reentrant = false, mode = 'exclusive', timeoutMs }: AcquireOptions,
): ReentrantOwnership | undefined {
  const hold =
    within ?? heldByThisChain().find((held) => held.by === by && held.ownership.name === name)?.ownership;
  if (!hold) return undefined;
  if (within && !(within instanceof ReentrantOwnership && within.isOf(by, name)))
    throw invalidArgument(
      'within',
      within,
      `is a hold of ${JSON.stringify(name)} that this client has taken with reentrant: true`,
    );
  if (within || reentrant) {
    if (!(hold instanceof ReentrantOwnership))
      throw isHeld(name, 'the hold around it says reentrant: true as well');
    if (hold.shared && mode === 'exclusive') throw isHeld(name, 'a reader does not become a writer');
    return hold;
  }
  // An answer is all that a timeout of 0 waits for.
  if (timeoutMs === 0) return undefined;
  throw isHeld(name, 'pass the ownership down, or say reentrant: true in both places');
}

function isHeld(name: string, remedy: string): QueueLockError {
  return new QueueLockError(
    'REENTRANT',
    `${JSON.stringify(name)} is held by this very call chain, which would wait for itself for ever; ${remedy}`,
  );
}

/** A timeout of 0 waits for nobody. */
function patienceOf({ signal, timeoutMs }: WaitLimit, clock: Clock): Observable<never> {
  return waitLimit({ signal, timeoutMs: timeoutMs === 0 ? 1 : timeoutMs }, clock, () => undefined);
}

async function turnWithin(turn: Promise<void>, limit$: Observable<never>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const limit = limit$.subscribe({ error: reject });
    void turn.then(() => {
      limit.unsubscribe();
      resolve();
    });
  });
}
