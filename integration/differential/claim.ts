import {
  isQueueLockError,
  type HandoverRequest,
  type Hold,
  type LockClient,
  type Ownership,
} from '@queuelock/core';
import type { Observable, Subscription } from 'rxjs';
import { describeError, optionsOf, reasonOf, type State } from './claim-state.ts';
import { Attempts, type Life } from './history.ts';
import type { ClaimView } from './situation.ts';
import { KIND_OF, LARGEST_LIMIT, type Features, type Reply, type Terms } from './step.ts';

const ABORT = new Error('the script aborts the wait');

export interface ClaimSetup extends Pick<ClaimView, 'name' | 'client' | 'queues' | 'terms'> {
  readonly life: Life;
  readonly features: Features;
  /** Returns the name in the store of a queue that a script names by a letter. */
  readonly nameOf: (queue: string) => string;
  /**
   * Emits the limit (the number of permits) for claims in the queue whose limit a step of the script can
   * change.
   */
  readonly limit$: Observable<number>;
}

/** One claim, from the first request to its end, also across a move of its session to another client. */
export class Claim implements ClaimView {
  readonly name: string;
  readonly client: string;
  readonly queues: readonly string[];
  readonly terms: Terms;
  readonly attempts: Attempts;
  status: ClaimView['status'] = 'joining';
  isShared: boolean;
  /**
   * Whether the session is moving to another client. Until that client has resumed the claim, the claim's
   * states in the old client are ignored.
   */
  isMoving = false;
  /** Whether a change of the entry has no response yet, so that its outcome is not known. */
  isChanging = false;
  readonly #setup: ClaimSetup;
  readonly #ends: string[] = [];
  readonly #requests = new Map<string, HandoverRequest>();
  readonly #received: string[] = [];
  #giveUp = new AbortController();
  #states: Subscription | undefined;
  #id: string | undefined;
  #hold: Hold | undefined;
  #detail = '';
  #changed!: () => void;
  #change: Promise<void>;

  constructor(setup: ClaimSetup) {
    const { name, client, queues, terms, life } = setup;
    this.#setup = setup;
    this.name = name;
    this.client = client;
    this.queues = queues;
    this.terms = terms;
    this.isShared = terms.isShared ?? false;
    const isVarying = KIND_OF[queues[0]!] === 'varying';
    const limit = isVarying ? LARGEST_LIMIT : terms.limit;
    const { permits, isShared: shared } = terms;
    this.attempts = new Attempts(life, queues.map(setup.nameOf), {
      ...(shared && { shared }),
      ...(limit !== undefined && { limit, permits: permits ?? 1 }),
    });
    this.#change = new Promise((resolve) => (this.#changed = resolve));
  }

  get requests(): readonly string[] {
    return [...this.#requests.keys()];
  }

  /**
   * Describes the state of the claim without ids and times, so that it can be compared with another store's.
   */
  get text(): string {
    const { status, isShared } = this;
    return [status, isShared ? 'shared' : '', this.#detail, ...this.#ends].filter(Boolean).join(', ');
  }

  /**
   * Names of the claims whose handover requests the holder has received, whether it has replied to them or
   * not.
   */
  get received(): readonly string[] {
    return this.#received;
  }

  /** The fencing tokens of the claim's present or last hold, by the letter of the queue in the script. */
  readonly tokens: Map<string, bigint> = new Map();

  join(client: LockClient): void {
    const { queues, features } = this.#setup;
    const { isShared } = this;
    const options = optionsOf({ ...this.#setup, isShared, id: this.#id, signal: this.#giveUp.signal });
    const [name = '', ...others] = queues.map(this.#setup.nameOf);
    const single = (): Observable<unknown> =>
      features.positions ? client.claimWithPosition(name, options) : client.claim(name, options);
    if (this.terms.isTheft)
      this.#setup.life.history.removal(
        ({ queue, order }) => queue === name && order < (this.attempts.order ?? order),
      );
    const state$ = others.length === 0 ? single() : client.multi([name, ...others]).claim(options);
    this.#states = (state$ as Observable<State>).subscribe((state) => this.#see(state));
  }

  /** Takes over the claim's entry in a client that has resumed the session. */
  resume(client: LockClient): void {
    this.#states?.unsubscribe();
    this.#giveUp = new AbortController();
    this.isMoving = false;
    this.status = 'joining';
    this.join(client);
  }

  /** Resolves when the claim no longer has the given status. */
  async leaves(status: ClaimView['status']): Promise<void> {
    while (this.status === status) await this.#change;
  }

  abort(): void {
    if (this.status !== 'joining' && this.status !== 'waiting') return;
    this.attempts.ends();
    this.#giveUp.abort(ABORT);
  }

  /** Releases the claim once it holds. Resolves when the claim has ended. */
  async release(): Promise<void> {
    await this.#granted();
    if (this.status !== 'holding') return;
    this.attempts.ends();
    await this.#changing(this.#hold?.release());
    this.attempts.left();
  }

  async downgrade(): Promise<void> {
    const ownership = await this.#ownership();
    if (!ownership || this.isShared) return;
    this.isShared = true;
    this.attempts.downgrade('downgrading');
    await this.#changing(ownership.downgrade());
    if (ownership.held) this.attempts.downgrade('downgraded');
  }

  async update(): Promise<void> {
    const ownership = await this.#ownership();
    await this.#changing(ownership?.update({ metadata: { updated: this.name } }));
  }

  async reply(to: string, reply: Reply): Promise<void> {
    const request = this.#requests.get(to);
    if (!request) return;
    this.#requests.delete(to);
    if (reply !== 'decline') this.attempts.ends();
    await this.#changing(request[reply]('not now'));
  }

  #see(state: State): void {
    if (this.isMoving) return;
    if (state.status === 'queued') this.#waits(state);
    else if (state.status === 'ended') this.#over(state);
    else if (state.status === 'joining') this.status = 'joining';
    else this.#holds(state.ownership);
    const changed = this.#changed;
    this.#change = new Promise((resolve) => (this.#changed = resolve));
    changed();
  }

  #waits({ id, order, token, position, ...state }: Extract<State, { status: 'queued' }>): void {
    this.status = 'waiting';
    this.#id = id;
    if (order !== undefined && token !== undefined) this.attempts.placed([{ order, token }]);
    const { answer } = state as { readonly answer?: object };
    this.#detail = [
      position === undefined ? '' : `position ${position}`,
      answer ? JSON.stringify(answer) : '',
    ]
      .filter(Boolean)
      .join(', ');
  }

  #holds(hold: Hold): void {
    if (this.#hold === hold) return;
    this.#hold = hold;
    this.status = 'holding';
    this.#detail = '';
    const parts = this.#parts(hold);
    for (const [at, { token }] of parts.entries()) this.tokens.set(this.queues[at]!, token);
    if (parts.length === 1) this.#id = parts[0]!.id;
    this.attempts.held(parts, hold.remainingMs);
    hold.signal.addEventListener('abort', () => {
      if (!this.isMoving) this.attempts.over(reasonOf(hold.signal.reason));
    });
    if (this.#setup.features.requests && parts.length === 1)
      parts[0]!.requests$.subscribe((request) => {
        this.#received.push(request.from.owner);
        this.#requests.set(request.from.owner, request);
      });
  }

  #over(state: Extract<State, { status: 'ended' }>): void {
    this.status = 'over';
    this.#detail = '';
    if (state.outcome === 'released') {
      this.#ends.push('released');
      this.attempts.ends();
      return;
    }
    this.attempts.over(reasonOf(state.error));
    this.#ends.push(
      `${state.outcome} ${state.error === ABORT ? 'by the abort' : describeError(state.error)}`,
    );
  }

  #parts(hold: Hold): readonly Ownership[] {
    if (!('of' in hold)) return [hold as Ownership];
    const { of } = hold as { readonly of: (name: string) => Ownership };
    return this.queues.map((queue) => of(this.#setup.nameOf(queue)));
  }

  /** Waits for a change of the entry. Ignores that the hold ends meanwhile, because the claim reports that. */
  async #changing(change: Promise<void> | undefined): Promise<void> {
    this.isChanging = true;
    try {
      await change;
    } catch (error) {
      if (!isQueueLockError(error, 'OWNERSHIP_LOST')) throw error;
    } finally {
      this.isChanging = false;
    }
  }

  /** Resolves when the claim holds or has ended. A waiter that was overtaken joins again. */
  async #granted(): Promise<void> {
    while (this.status === 'joining' || this.status === 'waiting') await this.#change;
  }

  /** Resolves with the ownership of a claim of one name once it holds. */
  async #ownership(): Promise<Ownership | undefined> {
    await this.#granted();
    return this.status === 'holding' && !this.isMoving ? (this.#hold as Ownership) : undefined;
  }
}
