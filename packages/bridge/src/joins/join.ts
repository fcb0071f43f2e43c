import type { PositionedClaimState, LockClient, Ownership } from '@queuelock/core';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import { follow } from '../follow.ts';
import { Subject, Subscription, type Observable } from '../rx.ts';
import type { ServerTime } from '../server-time.ts';
import type { JoinAnswer, JoinKey, JoinSnapshot, JoinRequest, TouchResponse } from '../wire.ts';
import { PendingRequests } from './pending-requests.ts';
import { joinSnapshot } from './join-snapshot.ts';
import { IdleDetector, type Sign, type IdleDetectorTools } from './idle-detector.ts';

/** The parts of a bridge that `Join` uses. */
export interface JoinTools extends IdleDetectorTools {
  readonly client: Pick<LockClient, 'claimWithPosition' | 'watch'>;
  readonly time: ServerTime;
}

/** Identity, secret and options of a join. */
export interface JoinSpec {
  readonly key: JoinKey;
  readonly request: JoinRequest;
  /** Owner label of the join's entry in the queue. */
  readonly owner: string;
  /** How the page of the join will prove that it is alive. */
  readonly sign: Sign;
}

/**
 * An entry that the bridge keeps for a page, from joining to the end. It leaves the queue or releases the lock when the page has
 * been silent for the grace.
 */
export class Join {
  readonly key: JoinKey;
  readonly #tools: JoinTools;
  readonly #changed$ = new Subject<void>();
  readonly #claim = new Subscription();
  readonly #idleDetector: IdleDetector;
  #state: PositionedClaimState = { status: 'joining' };
  /**
   * Key of the entry. It is stored as soon as it is known, because the claim may no longer provide it after
   * the page's release.
   */
  #entryKey = '';
  /** Subscription to the handover requests of waiters, while the page of this join holds. */
  #requests = new Subscription();
  #pendingRequests: PendingRequests | undefined;
  /** Whether the join carries a handover request. */
  readonly #hasRequest: boolean;

  /**
   * Adds the join's entry to the queue.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the claim's options are not valid.
   */
  constructor(spec: JoinSpec, tools: JoinTools) {
    const { name, metadata, mode, timeoutMs, request } = spec.request;
    this.key = spec.key;
    this.#tools = tools;
    this.#hasRequest = request !== undefined;
    const claim$ = tools.client.claimWithPosition(name, {
      owner: spec.owner,
      holding: [],
      ...(metadata && { metadata }),
      ...(mode && { mode }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(request && { request }),
    });
    this.#idleDetector = new IdleDetector(spec.sign, tools, () => {
      this.#abandon();
    });
    this.#claim.add(follow(claim$, (state) => this.#take(state)));
  }

  /** Emits after each change of the join; completes when the join ends. */
  get changed$(): Observable<void> {
    return this.#changed$;
  }

  get idleDetector(): IdleDetector {
    return this.#idleDetector;
  }

  get hasEnded(): boolean {
    return this.#state.status === 'ended';
  }

  /** Whether the join carries a handover request that has no answer yet. */
  get hasPendingRequest(): boolean {
    const { status } = this.#state;
    if (!this.#hasRequest || (status !== 'joining' && status !== 'queued')) return false;
    return !('answer' in this.#state && this.#state.answer);
  }

  /** The ownership of the lock, while the join holds. */
  get ownership(): Ownership | undefined {
    return 'ownership' in this.#state ? this.#state.ownership : undefined;
  }

  /** How long the bridge keeps the join from now on, for the response to a touch. */
  get touched(): TouchResponse['joins'][number] {
    const { ownership, hasEnded, key } = this;
    const graceMs = hasEnded ? 0 : this.#tools.graceMs;
    const keepsMs = ownership ? Math.min(graceMs, ownership.remainingMs) : graceMs;
    return { id: key.id, keepsMs, known: true, holds: ownership !== undefined };
  }

  snapshot(): JoinSnapshot {
    return joinSnapshot(this.#state, {
      at: this.#tools.time.now(),
      key: this.#entryKey,
      requests: this.#pendingRequests?.snapshots ?? [],
    });
  }

  /** Leaves the queue or releases the lock. Resolves when the server has confirmed the release. */
  async leave(): Promise<void> {
    const { ownership } = this;
    if (ownership) await ownership.release();
    this.#endBy({ status: 'ended', outcome: 'released' });
  }

  /**
   * Sends the page's answer to a handover request.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when no request with this id is pending.
   */
  async answer(response: JoinAnswer): Promise<void> {
    if (!this.#pendingRequests)
      throw invalidArgument('join', this.key.id, 'holds the lock: only a holder can answer requests');
    await this.#pendingRequests.answer(response);
  }

  #take(state: PositionedClaimState): void {
    this.#state = state;
    if (state.status === 'queued') this.#entryKey = state.key;
    if ('ownership' in state) this.#entryKey = state.ownership.key;
    if (state.status === 'ended') this.#finish();
    else if ('ownership' in state && !this.#pendingRequests) this.#followRequests(state.ownership);
    this.#changed$.next();
    if (state.status === 'ended') this.#changed$.complete();
  }

  #followRequests(ownership: Ownership): void {
    const pendingRequests = new PendingRequests(ownership, this.#tools.client.watch(ownership.name));
    this.#pendingRequests = pendingRequests;
    this.#requests = pendingRequests.watch(() => this.#changed$.next());
  }

  /** Ends the join of a page that has been silent for too long. */
  #abandon(): void {
    const seconds = String(this.#tools.graceMs / 1_000);
    const message = `the page was silent for ${seconds} s, so the bridge left the queue or released the lock`;
    const [outcome, code] = this.ownership
      ? (['lost', 'OWNERSHIP_LOST'] as const)
      : (['failed', 'ENTRY_LOST'] as const);
    const error = new QueueLockError(code, message, outcome === 'lost' ? { reason: 'client-closed' } : {});
    this.#endBy({ status: 'ended', outcome, error });
  }

  /**
   * Unsubscribes from the join's claim, which removes its entry or releases the lock. The claim emits nothing
   * after that, so this method sets the end state.
   */
  #endBy(state: Extract<PositionedClaimState, { status: 'ended' }>): void {
    if (this.hasEnded) return;
    this.#claim.unsubscribe();
    this.#take(state);
  }

  #finish(): void {
    this.#idleDetector.stop();
    this.#requests.unsubscribe();
    this.#pendingRequests = undefined;
  }
}
