import type { ClaimState } from '../api/api.ts';
import type { OwnershipListener } from '../hold/ownership-init.ts';
import type { AcquireTrace } from '../diagnostics/diagnostics.ts';
import { endedBy, type Place } from './ending.ts';
import { exposedKey } from '../entry/exposed-key.ts';
import { mayBeginNow, whenItMayBegin } from '../hold/grant.ts';
import type { HandoverAnswer } from '../api/hold-api.ts';
import { asksNothing, whileInLine } from '../handover/in-line.ts';
import { jsonable } from '../base/jsonable.ts';
import { turnsUnder } from '../entry/limit.ts';
import type { Health } from '../session/liveness.ts';
import type { ClaimContext } from './lock.ts';
import type { Moment } from '../base/moment.ts';
import { HeldOwnership } from '../hold/ownership.ts';
import type { AnswerTools } from '../handover/requests.ts';
import { Observable, Subscription, type Subscriber } from '../base/rx.ts';
import type { Turn } from '../api/spi.ts';
import type { ClaimRequest } from '../entry/wish.ts';

/** The request and dependencies of a claim that has an entry. */
interface Surroundings {
  readonly request: ClaimRequest;
  readonly around: FollowingTools;
}

/** Dependencies for following an entry. */
interface FollowingTools {
  readonly context: Pick<
    ClaimContext,
    'clock' | 'evictions' | 'holdTimes' | 'info' | 'lockDelayMs' | 'watch'
  >;
  /** Completes when the hold begins. */
  readonly granted: Moment;
  /** Set only if diagnostics are subscribed. */
  readonly trace: AcquireTrace | undefined;
}

/** Follows an entry through admission and hold (steps 3 and 4). */
export function follow(place: Place, request: ClaimRequest, around: FollowingTools): Observable<ClaimState> {
  return new Observable((subscriber) => {
    new Following(subscriber, place, { request, around }).begin();
  });
}

/** A class rather than a literal: a getter in a literal creates a new function and a new object shape for each claim. */
class ToolsOf implements AnswerTools {
  readonly label: AnswerTools['label'];
  readonly evictions: AnswerTools['evictions'];
  readonly clock: AnswerTools['clock'];
  readonly #queue: string;
  readonly #context: FollowingTools['context'];

  constructor(queue: string, label: Place['label'], context: FollowingTools['context']) {
    this.label = label;
    this.evictions = context.evictions;
    this.clock = context.clock;
    this.#queue = queue;
    this.#context = context;
  }

  get queue$(): AnswerTools['queue$'] {
    return this.#context.watch(this.#queue);
  }
}

/**
 * A claim that has an entry. Every followed source (session, turns, requests while waiting) ends it by an error. A hand-written stream, because
 * every acquisition creates one and it changes state at few points.
 */
class Following implements OwnershipListener {
  readonly #subscriber: Subscriber<ClaimState>;
  readonly #place: Place;
  readonly #request: ClaimRequest;
  readonly #around: FollowingTools;
  readonly #tools: AnswerTools;
  /** All followed sources; unsubscribed when the claim ends. */
  readonly #followed = new Subscription();
  #turns: Subscription | undefined;
  #inLine: Subscription | undefined;
  #beginning: Subscription | undefined;
  #health: Health = 'alive';
  #turn: Turn | undefined;
  #answer: HandoverAnswer | undefined;
  #ownership: HeldOwnership | undefined;

  constructor(subscriber: Subscriber<ClaimState>, place: Place, { request, around }: Surroundings) {
    this.#subscriber = subscriber;
    this.#place = place;
    this.#request = request;
    this.#around = around;
    this.#tools = new ToolsOf(request.queue, place.label, around.context);
  }

  begin(): void {
    const { live, entry } = this.#place;
    const { limit, inLine } = this.#request;
    this.#subscriber.add(() => {
      this.#end();
    });
    this.#follow(live.liveness.health$, (health) => {
      this.#health = health;
      this.#tellHealth();
    });
    const { turn, key, order } = entry.placement;
    if (!turn.admitted && !asksNothing(inLine)) {
      const answer$ = whileInLine({ id: entry.spec.id, key, order }, inLine, this.#tools);
      this.#inLine = this.#follow(answer$, (answer) => {
        this.#answer = answer;
        this.#tellPlace();
      });
    }
    const turn$ = turnsUnder(limit, entry, { session: live.session, granted: this.#around.granted });
    this.#turns = this.#follow(turn$, (now) => {
      this.#turnTo(now);
    });
  }

  /** Stops watching the entry, since its removal by the owner is no loss. */
  givenUp(): void {
    this.#turns?.unsubscribe();
  }

  released(): void {
    this.#subscriber.next({ status: 'ended', outcome: 'released' });
    this.#subscriber.complete();
  }

  /** Subscribes until the claim ends. An error of the source ends the claim. */
  #follow<T>(source$: Observable<T>, next: (value: T) => void): Subscription | undefined {
    if (this.#followed.closed) return undefined;
    const error = (cause: unknown): void => {
      this.#fail(cause);
    };
    const following = source$.subscribe({ next, error });
    this.#followed.add(following);
    return following;
  }

  #turnTo(now: Turn): void {
    if (this.#turn && sameTurn(this.#turn, now)) return;
    this.#turn = now;
    this.#beginning?.unsubscribe();
    if (!now.admitted) {
      this.#tellPlace();
      return;
    }
    const { live, entry } = this.#place;
    const { clock, lockDelayMs } = this.#around.context;
    const { minRemainingMs } = this.#request;
    const beginning = { live, spec: entry.spec, minRemainingMs, lockDelayMs, clock };
    const grant = (): void => {
      this.#grant(now);
    };
    if (mayBeginNow(beginning)) grant();
    else this.#beginning = this.#follow(whenItMayBegin(beginning), grant);
  }

  #grant(turn: Turn): void {
    const { context, granted, trace } = this.#around;
    const { clock, holdTimes, info } = context;
    granted.come();
    this.#inLine?.unsubscribe();
    const { live, entry } = this.#place;
    const ownership = new HeldOwnership({ live, entry, tools: this.#tools, turn, listener: this, info });
    this.#ownership = ownership;
    if (trace) ownership.trace(trace.granted(ownership));
    const begunAt = clock.now();
    this.#followed.add(() => {
      holdTimes.note(this.#request.queue, clock.now() - begunAt);
    });
    this.#tellHealth();
  }

  #tellPlace(): void {
    if (!this.#turn || this.#turn.admitted) return;
    this.#subscriber.next(queued(this.#place, this.#turn, this.#answer));
  }

  /** Emits the health of the hold, unless it was released or its time has run out. */
  #tellHealth(): void {
    const ownership = this.#ownership;
    if (!ownership?.held) return;
    this.#subscriber.next({ status: this.#health === 'alive' ? 'held' : 'suspect', ownership });
  }

  #fail(cause: unknown): void {
    this.#followed.unsubscribe();
    const ending = {
      place: this.#place,
      ownership: this.#ownership,
      evictions: this.#around.context.evictions,
    };
    endedBy(cause, ending).subscribe(this.#subscriber);
  }

  /** Ends the claim at any stage. */
  #end(): void {
    this.#followed.unsubscribe();
    this.#ownership?.giveUp();
  }
}

function queued({ live, entry }: Place, turn: Turn, answer: HandoverAnswer | undefined): ClaimState {
  const { order, token } = entry.placement;
  const place = {
    status: 'queued' as const,
    entriesAhead: turn.ahead,
    order,
    token,
    // Reading the key has a side effect, so it is left to the caller.
    get key(): string {
      return exposedKey(live, entry);
    },
    id: entry.spec.id,
  };
  return jsonable<ClaimState>(answer ? Object.assign(place, { answer }) : place);
}

function sameTurn(before: Turn, now: Turn): boolean {
  return before.admitted === now.admitted && (now.admitted || before.ahead === now.ahead);
}
