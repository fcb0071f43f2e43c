import type { ClaimState, LockClient } from '@queuelock/core';
import type { Identity, Settings } from './options.ts';
import { Refused } from './refusal.ts';
import { Observable, defer, filter, finalize, firstValueFrom, map, scan, takeUntil } from './rx.ts';
import type { Asked, AskRequest, Evicted, EvictRequest, Tokened, TokenRequest } from './wire.ts';

/** What is done once, and answered. */
export class Acts {
  readonly #settings: Settings;
  #asks = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The reason begins with the operator's name, as far as that is known. */
  async evict({ name, entry, reason }: EvictRequest, identity: Identity | undefined): Promise<Evicted> {
    const { key, order, owner, id } = entry;
    const seen = { key, order: BigInt(order), owner, ...(id === undefined ? {} : { id }) };
    const why = identity ? `${identity.name}: ${reason}` : reason;
    return { removed: await this.#settings.client.evict(name, seen, { reason: why }) };
  }

  async tokenOf({ name, entry: { key, order } }: TokenRequest): Promise<Tokened> {
    const token = await this.#settings.client.tokenOf(name, { key, order: BigInt(order) });
    return token === undefined ? {} : { token: String(token) };
  }

  /** Stands in the queue until there is an answer, or nobody waits for it any more. */
  async ask(
    { name, ...request }: AskRequest,
    identity: Identity | undefined,
    signal: AbortSignal,
  ): Promise<Asked> {
    const { client, limits } = this.#settings;
    if (this.#asks >= limits.asks)
      throw new Refused(
        503,
        'UNAVAILABLE',
        `the bridge asks ${String(limits.asks)} holders already, its limit`,
      );
    const claim$ = client.claim(name, { request, owner: identity?.name ?? 'browser', holding: [] });
    const asked$ = defer(() => {
      this.#asks += 1;
      return answersIn(claim$);
    }).pipe(
      takeUntil(abortOf(signal)),
      finalize(() => (this.#asks -= 1)),
    );
    return firstValueFrom(asked$, { defaultValue: { answer: 'ignored' } });
  }
}

interface Heard {
  readonly state: ClaimState;
  /** Somebody was ahead at some time. */
  readonly hasQueued: boolean;
}

const NOTHING: Heard = { state: { status: 'joining' }, hasQueued: false };

function answersIn(claim$: ReturnType<LockClient['claim']>): Observable<Asked> {
  return claim$.pipe(
    scan(
      ({ hasQueued }: Heard, state: ClaimState) => ({
        state,
        hasQueued: hasQueued || state.status === 'queued',
      }),
      NOTHING,
    ),
    map(answerIn),
    filter((answer) => answer !== undefined),
  );
}

function answerIn({ state, hasQueued }: Heard): Asked | undefined {
  if (state.status === 'queued') return state.answer;
  if (state.status === 'held' || state.status === 'doubtful')
    return { answer: hasQueued ? 'released' : 'free' };
  if (state.status === 'ended' && state.outcome !== 'released') throw state.error;
  return undefined;
}

function abortOf(signal: AbortSignal): Observable<void> {
  return new Observable((subscriber) => {
    const abort = (): void => subscriber.next();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    subscriber.add(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
