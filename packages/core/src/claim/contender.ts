import type { ClaimState } from '../api/claim-state.ts';
import { endedBy } from './ending.ts';
import type { Entry } from '../entry/entry.ts';
import type { QueueLockError } from '../api/errors.ts';
import { mayBeginNow, whenItMayBegin } from '../hold/grant.ts';
import type { HandoverAnswer } from '../api/handover-api.ts';
import { hasNoRequest, whileInLine } from '../handover/in-line.ts';
import { throwIfMismatched, turnsUnder } from '../entry/turns-under-limit.ts';
import type { LivenessListener } from '../session/liveness.ts';
import { Moment } from '../base/moment.ts';
import { HeldOwnership } from '../hold/ownership.ts';
import type { Holder } from '../hold/ownership-init.ts';
import type { AnswerTools } from '../handover/requests.ts';
import { Subscription, type Observable } from '../base/rx.ts';
import { JOINING, RELEASED, queued, sameTurn, type Ended, type Step } from './steps.ts';
import type { Turn } from '../api/spi.ts';
import type { ClaimRequest } from '../entry/new-entry.ts';
import type { ClaimContext } from './claim-context.ts';
import type { AcquireTrace } from '../diagnostics/diagnostics.ts';
import type { Ownership } from '../api/hold-api.ts';

/** The members of an acquisition that its current attempt, a `Contender`, calls. */
export interface ContenderHost {
  readonly context: ClaimContext;
  readonly trace: AcquireTrace | undefined;
  changed(): void;
  /** Removes the timeout and the abort listener, which may end only the wait and not the hold. */
  endWait(): void;
  held(ownership: Ownership): void;
  /** Ends the current attempt, which failed with `cause` before the hold. Then starts another attempt, or ends the claim. */
  retry(cause: unknown): void;
  finish(end: Ended): void;
}

/**
 * The state machine of one entry: joins the queue, waits, holds and leaves. Subscribes to the entry's turns. While it waits, it also subscribes to
 * the holder's responses to its handover request, and to the conditions that its options set for the wait.
 */
export class Contender implements Holder, LivenessListener {
  readonly #entry: Entry;
  readonly #request: ClaimRequest;
  readonly #acquisition: ContenderHost;
  #step: Step = 'joining';
  #turn: Turn | undefined;
  #response: HandoverAnswer | undefined;
  #ownership: HeldOwnership | undefined;
  #begunAt: number | undefined;
  #turns: Subscription | undefined;
  /** The subscription that waits until the hold may begin. Set only while the entry is admitted and its hold may not begin yet. */
  #beginning: Subscription | undefined;
  /**
   * During the wait: the subscriptions to the conditions for the wait and the hold, and to responses of the holder. After the loss of the entry: the
   * subscription that finds the cause.
   */
  #followed: Subscription | undefined;
  /** The moment at which the hold begins. From then on the limit no longer changes. Set only if the limit is a stream. */
  #granted: Moment | undefined;

  constructor(entry: Entry, request: ClaimRequest, acquisition: ContenderHost) {
    this.#entry = entry;
    this.#request = request;
    this.#acquisition = acquisition;
  }

  get state(): ClaimState {
    const ownership = this.#ownership;
    if (ownership) return { status: this.#entry.live.liveness.isAlive ? 'held' : 'suspect', ownership };
    return this.#turn ? queued(this.#entry, this.#turn, this.#response) : JOINING;
  }

  begin(): void {
    this.#entry.live.liveness.add(this);
    if (this.#step === 'joining') void this.#join();
  }

  /** Leaves the queue or releases the lock, whatever the current step. */
  leave(): void {
    const isLeaving = this.#step === 'leaving';
    this.#step = 'ended';
    this.#unfollow();
    if (isLeaving) return;
    this.#ownership?.giveUp();
    void this.#entry.leave();
  }

  // --- Members of the contender that the session calls.

  healthChanged(): void {
    // Ignores the change of the session's health unless the lock is held, because only the state of a hold shows the health.
    if (this.#step === 'holding' && this.#ownership?.held) this.#acquisition.changed();
  }

  sessionEnded(error: QueueLockError): void {
    if (this.#step === 'joining') this.#acquisition.retry(error);
    else this.#fail(error);
  }

  // --- Members of the contender that the stream of turns calls. The contender itself is the observer, which saves two closures per wait.

  next(now: Turn): void {
    this.#turnTo(now);
  }

  error(cause: unknown): void {
    this.#fail(cause);
  }

  // --- Members of the contender that its ownership calls.

  /** Stops watching the entry, because its owner removes it now, which is no loss. */
  givenUp(): void {
    if (this.#step === 'holding') this.#step = 'leaving';
    this.#turns?.unsubscribe();
  }

  released(): void {
    this.#acquisition.finish(RELEASED);
  }

  tools(): AnswerTools {
    const { clock, evictions, watch } = this.#acquisition.context;
    return { label: this.#entry.label, queue$: watch(this.#request.queue), evictions, clock };
  }

  // --- The steps of a contender.

  async #join(): Promise<void> {
    try {
      await this.#entry.join();
      throwIfMismatched(this.#request.limit, this.#entry);
    } catch (cause) {
      if (this.#step === 'joining') this.#acquisition.retry(cause);
    }
    if (this.#step === 'joining') this.#wait();
  }

  /** Subscribes to the turns of the entry, and waits for admission. */
  #wait(): void {
    this.#step = 'waiting';
    const { limit, inLine } = this.#request;
    const { spec, placement } = this.#entry;
    const { turn, turns$, key, order } = placement;
    if (!turn.admitted && !hasNoRequest(inLine))
      this.#follow(whileInLine({ id: spec.id, key, order }, inLine, this.tools()), (response) => {
        this.#response = response;
        if (this.#turn?.admitted === false) this.#acquisition.changed();
      });
    if (limit.fixed === undefined) {
      this.#granted = new Moment();
      this.#followTurns(turnsUnder(limit.now$, this.#entry, this.#granted));
    } else {
      this.#turnTo(turn);
      this.#followTurns(turns$);
    }
  }

  #followTurns(turn$: Observable<Turn>): void {
    if (!this.#isFollowing()) return;
    const turns = turn$.subscribe(this);
    if (this.#isFollowing()) this.#turns = turns;
    else turns.unsubscribe();
  }

  #turnTo(now: Turn): void {
    if (this.#step !== 'waiting' || sameTurn(this.#turn, now)) return;
    this.#turn = now;
    this.#beginning?.unsubscribe();
    const { context, trace } = this.#acquisition;
    const { live, spec, placement } = this.#entry;
    if (!now.admitted) {
      trace?.stoodInLine({ id: spec.id, order: placement.order });
      this.#acquisition.changed();
      return;
    }
    const { clock, lockDelayMs } = context;
    const { minRemainingMs } = this.#request;
    const beginning = { live, spec, minRemainingMs, lockDelayMs, clock };
    const time = clock.now();
    if (mayBeginNow(beginning, time)) this.#hold(now, time);
    else
      this.#beginning = this.#follow(whenItMayBegin(beginning), () => {
        this.#hold(now, clock.now());
      });
  }

  /** Begins the hold of an admitted entry. */
  #hold(turn: Turn, begunAt: number): void {
    const { context, trace } = this.#acquisition;
    this.#step = 'holding';
    this.#acquisition.endWait();
    this.#granted?.come();
    this.#followed?.unsubscribe();
    const ownership = new HeldOwnership({ entry: this.#entry, turn, holder: this, info: context.info });
    this.#ownership = ownership;
    if (context.recorder) ownership.record(context.recorder.began(ownership, this.#request.label));
    if (trace) ownership.trace(trace.granted(ownership));
    this.#begunAt = begunAt;
    this.#acquisition.held(ownership);
  }

  /** Ends the wait or the hold, because the session or the entry was lost. */
  #fail(cause: unknown): void {
    this.#step = 'ending';
    this.#unfollow();
    const { evictions } = this.#acquisition.context;
    const end$ = endedBy(cause, { entry: this.#entry, ownership: this.#ownership, evictions });
    this.#followed = end$.subscribe({
      next: (end) => {
        this.#acquisition.finish(end);
      },
      error: (overtaken: unknown) => {
        this.#acquisition.retry(overtaken);
      },
    });
  }

  #isFollowing(): boolean {
    return this.#step === 'waiting' || this.#step === 'holding';
  }

  /** Subscribes to a stream until the hold begins or the wait ends. */
  #follow<T>(source$: Observable<T>, next: (value: T) => void): Subscription {
    const error = (cause: unknown): void => {
      this.#fail(cause);
    };
    const followed = (this.#followed ??= new Subscription());
    const following = source$.subscribe({ next, error });
    followed.add(following);
    return following;
  }

  #unfollow(): void {
    const { clock, holdTimes } = this.#acquisition.context;
    this.#entry.live.liveness.delete(this);
    this.#turns?.unsubscribe();
    this.#followed?.unsubscribe();
    if (this.#begunAt === undefined) return;
    holdTimes.note(this.#request.queue, clock.now() - this.#begunAt);
    this.#begunAt = undefined;
  }
}
