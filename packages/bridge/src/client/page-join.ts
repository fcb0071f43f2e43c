import * as v from 'valibot';
import { joinSnapshotSchema, joinResponseSchema } from '../wire.ts';
import type { JoinKey, JoinSnapshot, JoinRequest, TouchResponse } from '../wire.ts';
import { Subject, Subscription, type Observable } from '../rx.ts';
import type { ClientClock, PageClaimState, PageLock } from './api.ts';
import { Backoff } from './backoff.ts';
import { BridgeError, bridgeError } from './bridge-error.ts';
import type { Calls } from './calls.ts';
import type { PageStream } from './page-stream.ts';
import { PageHold } from './page-hold.ts';
import { understood } from './parsed.ts';
import type { Touches } from './touches.ts';

/** The parts of a client that `PageJoin` uses. */
export interface PageJoinTools {
  readonly calls: Calls;
  readonly stream: PageStream;
  readonly touches: Touches;
  readonly clock: ClientClock;
}

type Queued = Extract<JoinSnapshot, { status: 'queued' }>;
type Holding = Extract<JoinSnapshot, { status: 'held' | 'suspect' }>;
type Ended = Extract<PageClaimState, { status: 'ended' }>;

// Fraction of the bridge's grace for which the page believes that it holds. The remaining 2 % allow for a
// difference between the clock rates of the page and the bridge.
const USABLE_PART_OF_GRACE = 0.98;
const NOTHING = v.object({});
const LEAVE_TIMEOUT_MS = 5_000;

/**
 * One join of this page, from the first request to the end. The response states how long the bridge keeps the
 * hold, counted from when the page *sent* the request. So the page never believes that it holds for longer
 * than the bridge does.
 */
export class PageJoin {
  readonly #request: JoinRequest & { readonly key: JoinKey };
  readonly #tools: PageJoinTools;
  readonly #state$ = new Subject<PageClaimState>();
  /**
   * Subscription to touches, the periodic requests that prove to the bridge that the page is alive. It ends
   * when the page leaves. If the leave request is lost, the bridge then detects the silence.
   */
  readonly #touches = new Subscription();
  readonly #listening = new Subscription();
  readonly #backoff = new Backoff();
  #graceMs = 0;
  /** Send time of the page's latest request to which the bridge responded that it does not hold yet. */
  #waitedAt = 0;
  #hold: PageHold | undefined;
  /** The hold as the bridge last reported it. The page counts as a holder only until the proven time ends. */
  #holding: Holding | undefined;
  #joining: Promise<void> = Promise.resolve();
  #leaving: Promise<void> | undefined;
  #hasEnded = false;

  constructor(name: string, options: Omit<JoinRequest, 'name' | 'key'>, tools: PageJoinTools) {
    this.#request = { ...options, name, key: newKey() };
    this.#tools = tools;
  }

  /** Emits the states of the page's join; completes after the state `ended`. */
  get state$(): Observable<PageClaimState> {
    return this.#state$;
  }

  start(): void {
    this.#state$.next({ status: 'joining' });
    this.#joining = this.#join();
  }

  /** Leaves the queue. Resolves when the bridge confirms it, or must have noticed the page's silence. */
  leave(outlivesPage = false): Promise<void> {
    this.#hold?.end();
    this.#touches.unsubscribe();
    this.#leaving ??= this.#hasEnded ? Promise.resolve() : this.#leave(outlivesPage);
    return this.#leaving;
  }

  async #join(): Promise<void> {
    const { calls, clock } = this.#tools;
    try {
      this.#waitedAt = clock.now();
      const call = { path: 'joins', body: this.#request, answer: joinResponseSchema };
      const { graceMs } = await calls.post(call);
      if (!this.#leaving) this.#keep(graceMs);
    } catch (error) {
      const { retryable, retryAfterMs } = bridgeError(error);
      if (this.#leaving) return;
      // The request to join may have reached the bridge although its response is missing. A repeated request
      // has the same random key, so the bridge does not add a second join.
      if (retryable)
        this.#touches.add(
          clock.after(this.#backoff.nextMs(retryAfterMs), () => {
            this.#joining = this.#join();
          }),
        );
      else this.#end({ status: 'ended', outcome: 'failed', error: bridgeError(error) });
    }
  }

  #keep(graceMs: number): void {
    const { stream, touches } = this.#tools;
    const { key } = this.#request;
    this.#graceMs = graceMs;
    const onSnapshot = (snapshot: unknown): void => this.#take(understood(snapshot, joinSnapshotSchema));
    const onRefusal = (error: BridgeError): void => this.#onUnknown(error);
    const touched = (response: TouchResponse['joins'][number], sentAt: number): void =>
      this.#touched(response, sentAt);
    this.#listening.add(stream.listen({ topic: { kind: 'join', ...key }, onSnapshot, onRefusal }));
    this.#touches.add(touches.keep({ key, touched }, graceMs));
  }

  #take(snapshot: JoinSnapshot): void {
    if (this.#hasEnded || this.#leaving) return;
    if (snapshot.status === 'queued') this.#state$.next(queuedState(snapshot));
    else if (snapshot.status === 'ended') this.#end(endedState(snapshot));
    else if (snapshot.status !== 'joining') this.#takeHold(snapshot);
  }

  #takeHold(snapshot: Holding): void {
    this.#holding = snapshot;
    const provenMs = Math.min(this.#graceMs, snapshot.remainingMs) * USABLE_PART_OF_GRACE;
    if (!this.#hold) this.#prove(this.#waitedAt + provenMs);
    else this.#emitHold();
    this.#tools.touches.now();
  }

  #touched({ keepsMs, holds, known }: TouchResponse['joins'][number], sentAt: number): void {
    if (this.#hasEnded || this.#leaving) return;
    if (!known) this.#onUnknown(undefined);
    else if (holds) this.#prove(sentAt + keepsMs * USABLE_PART_OF_GRACE);
    else this.#waitedAt = sentAt;
  }

  /** Begins the page's hold, or extends its proven time to `deadline`, unless that has already passed. */
  #prove(deadline: number): void {
    const snapshot = this.#holding;
    if (this.#hold) this.#hold.prove(deadline);
    else if (snapshot && deadline > this.#tools.clock.now()) {
      this.#hold = this.#begin(snapshot, deadline);
      this.#emitHold();
    }
  }

  #begin({ id, key, order, token }: Holding, deadline: number): PageHold {
    const answer: PageLock['answer'] = async (to, kind, reason) => {
      const body = {
        secret: this.#request.key.secret,
        to,
        answer: kind,
        ...(reason === undefined ? {} : { reason }),
      };
      const path = `joins/${this.#request.key.id}/answer`;
      await this.#tools.calls.post({ path, body, answer: NOTHING });
    };
    return new PageHold({
      ...{ name: this.#request.name, id, key, order, token, deadline, answer },
      clock: this.#tools.clock,
      onLoss: (error) => this.#onLoss(error),
      release: () => this.leave(),
    });
  }

  #emitHold(): void {
    const snapshot = this.#holding;
    const lock = this.#hold;
    if (!snapshot || !lock) return;
    lock.requests = snapshot.requests;
    this.#state$.next({ status: snapshot.status, lock });
  }

  #onLoss(error: BridgeError): void {
    if (this.#hasEnded) return;
    // Makes the bridge release the lock, which it may still hold: this page can no longer use it.
    void this.#leave(false);
    this.#end({ status: 'ended', outcome: 'lost', error });
  }

  /** Ends the join after a response that the bridge has no such join. */
  #onUnknown(error: BridgeError | undefined): void {
    if (this.#hasEnded || this.#leaving) return;
    const code = this.#hold ? 'OWNERSHIP_LOST' : 'SESSION_LOST';
    const message = `[${code}] the bridge does not know this join any more: it was restarted, or the page was silent for too long`;
    const why =
      error && !this.#hold ? error : new BridgeError({ code, message, retryable: code === 'SESSION_LOST' });
    this.#end({ status: 'ended', outcome: this.#hold ? 'lost' : 'failed', error: why });
  }

  #end(state: Ended): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#touches.unsubscribe();
    this.#listening.unsubscribe();
    if (state.outcome === 'lost' && state.error) this.#hold?.lose(state.error);
    else this.#hold?.end();
    this.#state$.next(state);
    this.#state$.complete();
  }

  async #leave(outlivesPage: boolean): Promise<void> {
    const { clock } = this.#tools;
    const { id, secret } = this.#request.key;
    // Waits until the join has reached the bridge, because the bridge cannot end a join that it does not
    // know. A page that closes does not wait; the bridge detects its silence.
    if (!outlivesPage) await this.#joining;
    // The bridge detects the silence of a page at most 1.25 times the grace after the page's last request.
    const detectedAt = clock.now() + 1.25 * this.#graceMs;
    const call = {
      path: `joins/${id}/leave`,
      body: { secret },
      answer: NOTHING,
      outlivesPage,
      withinMs: LEAVE_TIMEOUT_MS,
    };
    while (!(await this.#tryToLeave(call)) && clock.now() < detectedAt) await this.#pause();
    this.#end({ status: 'ended', outcome: 'released', error: undefined });
  }

  async #tryToLeave(call: Parameters<Calls['post']>[0]): Promise<boolean> {
    return this.#tools.calls.post(call).then(
      () => true,
      (error: unknown) => !bridgeError(error).retryable || bridgeError(error).code === 'SESSION_LOST',
    );
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#tools.clock.after(this.#backoff.nextMs(), resolve);
    });
  }
}

function newKey(): JoinKey {
  const hex = (bytes: number): string =>
    Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('');
  return { id: hex(12), secret: hex(24) };
}

function queuedState({ id, token, position, expectedWaitMs, at, answer }: Queued): PageClaimState {
  return { status: 'queued', id, token, position, expectedWaitMs, at, answer };
}

function endedState({ outcome, error }: Extract<JoinSnapshot, { status: 'ended' }>): Ended {
  return { status: 'ended', outcome, error: error && new BridgeError(error) };
}
