import type { PositionedClaimState, LockClient, Ownership } from '@queuelock/core';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import { follow } from '../follow.ts';
import { Subject, Subscription, type Observable } from '../rx.ts';
import type { ServerTime } from '../server-time.ts';
import type { JoinAnswer, JoinKey, JoinSnapshot, JoinRequest, TouchResponse } from '../wire.ts';
import { Asking } from './asking.ts';
import { joinSnapshot } from './join-snapshot.ts';
import { IdleDetector, type Sign, type IdleDetectorTools } from './idle-detector.ts';

/** What a join is made with. */
export interface JoinTools extends IdleDetectorTools {
  readonly client: Pick<LockClient, 'claimWithPosition' | 'watch'>;
  readonly time: ServerTime;
}

/** Who joins, and with what secret. */
export interface JoinSpec {
  readonly key: JoinKey;
  readonly request: JoinRequest;
  /** The entry's label. */
  readonly owner: string;
  /** How the page will show that it is there. */
  readonly sign: Sign;
}

/**
 * A place in a queue that the bridge keeps for a page: from joining to the end. Without a word from the page it leaves or releases when
 * the grace is over.
 */
export class Join {
  readonly key: JoinKey;
  readonly #tools: JoinTools;
  readonly #changed$ = new Subject<void>();
  readonly #line = new Subscription();
  readonly #idleDetector: IdleDetector;
  #state: PositionedClaimState = { status: 'joining' };
  /** The key of the entry, read as soon as it is known: after the page's release it may not be readable. */
  #entryKey = '';
  /** The requests to one that holds. */
  #requests = new Subscription();
  #asking: Asking | undefined;
  /** The request for the place carries one to the holder. */
  readonly #hasRequest: boolean;

  /** @throws {QueueLockError} `INVALID_ARGUMENT`. */
  constructor(spec: JoinSpec, tools: JoinTools) {
    const { name, metadata, mode, timeoutMs, request } = spec.request;
    this.key = spec.key;
    this.#tools = tools;
    this.#hasRequest = request !== undefined;
    const line$ = tools.client.claimWithPosition(name, {
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
    this.#line.add(follow(line$, (state) => this.#take(state)));
  }

  /** Completes with the end. */
  get changed$(): Observable<void> {
    return this.#changed$;
  }

  get idleDetector(): IdleDetector {
    return this.#idleDetector;
  }

  get hasEnded(): boolean {
    return this.#state.status === 'ended';
  }

  /** Whether it asks the holder to make way, and has no answer yet. */
  get isAsking(): boolean {
    const { status } = this.#state;
    if (!this.#hasRequest || (status !== 'joining' && status !== 'queued')) return false;
    return !('answer' in this.#state && this.#state.answer);
  }

  /** While it holds. */
  get ownership(): Ownership | undefined {
    return 'ownership' in this.#state ? this.#state.ownership : undefined;
  }

  /** For so long from now the page may rely on the bridge; see `TouchResponse`. */
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
      requests: this.#asking?.snapshots ?? [],
    });
  }

  /** Leaves, or releases; settles when the server has confirmed the release. */
  async leave(): Promise<void> {
    const { ownership } = this;
    if (ownership) await ownership.release();
    this.#endBy({ status: 'ended', outcome: 'released' });
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT` when nobody of this id asks. */
  async answer(answer: JoinAnswer): Promise<void> {
    if (!this.#asking) throw invalidArgument('join', this.key.id, 'holds the lock: only a holder is asked');
    await this.#asking.answer(answer);
  }

  #take(state: PositionedClaimState): void {
    this.#state = state;
    if (state.status === 'queued') this.#entryKey = state.key;
    if ('ownership' in state) this.#entryKey = state.ownership.key;
    if (state.status === 'ended') this.#finish();
    else if ('ownership' in state && !this.#asking) this.#followRequests(state.ownership);
    this.#changed$.next();
    if (state.status === 'ended') this.#changed$.complete();
  }

  #followRequests(ownership: Ownership): void {
    const asking = new Asking(ownership, this.#tools.client.watch(ownership.name));
    this.#asking = asking;
    this.#requests = asking.watch(() => this.#changed$.next());
  }

  /** Nothing was heard of the page for too long. */
  #abandon(): void {
    const seconds = String(this.#tools.graceMs / 1_000);
    const message = `the bridge has not heard of the page for ${seconds} s, and has left the queue for it`;
    const [outcome, code] = this.ownership
      ? (['lost', 'OWNERSHIP_LOST'] as const)
      : (['failed', 'ENTRY_LOST'] as const);
    const error = new QueueLockError(code, message, outcome === 'lost' ? { reason: 'client-closed' } : {});
    this.#endBy({ status: 'ended', outcome, error });
  }

  /** Unsubscribing from the line leaves or releases, and what the line would have said is said here. */
  #endBy(state: Extract<PositionedClaimState, { status: 'ended' }>): void {
    if (this.hasEnded) return;
    this.#line.unsubscribe();
    this.#take(state);
  }

  #finish(): void {
    this.#idleDetector.stop();
    this.#requests.unsubscribe();
    this.#asking = undefined;
  }
}
