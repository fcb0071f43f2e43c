import type { ClaimState, LockClient } from '@queuelock/core';
import type { ClientId, Quota } from './limits/quota.ts';
import type { Identity, Settings } from './options.ts';
import { Observable, defer, filter, finalize, firstValueFrom, map, scan, takeUntil } from './rx.ts';
import type {
  HandoverResponse,
  AskRequest,
  EvictResponse,
  EvictRequest,
  TokenResponse,
  TokenRequest,
} from './wire.ts';

/** The parts of a bridge that are needed to evict an entry, read a token, or request a hand-over. */
export interface ActsTools {
  readonly settings: Settings;
  /** Limits how many handover requests may wait for a holder's response. */
  readonly asks: Quota;
}

/** The client that sent a request: its identity, and the signal that aborts when it disconnects. */
export interface RequesterFacts {
  readonly identity: Identity | undefined;
  readonly client: ClientId;
  readonly signal: AbortSignal;
}

/**
 * Handles requests that have a single response: to evict an entry, to read a token, to request a hand-over.
 */
export class Acts {
  readonly #settings: Settings;
  readonly #asks: Quota;

  constructor({ settings, asks }: ActsTools) {
    this.#settings = settings;
    this.#asks = asks;
  }

  /**
   * Evicts an entry of another client. The reason in the store begins with the operator's name if `authorize`
   * returned one.
   */
  async evict({ name, entry, reason }: EvictRequest, identity: Identity | undefined): Promise<EvictResponse> {
    const { key, order, owner, id } = entry;
    const seen = { key, order: BigInt(order), owner, ...(id === undefined ? {} : { id }) };
    const why = identity ? `${identity.name}: ${reason}` : reason;
    return { removed: await this.#settings.client.evict(name, seen, { reason: why }) };
  }

  async tokenOf({ name, entry: { key, order } }: TokenRequest): Promise<TokenResponse> {
    const token = await this.#settings.client.tokenOf(name, { key, order: BigInt(order) });
    return token === undefined ? {} : { token: String(token) };
  }

  /**
   * Adds an entry with a handover request to the queue `name`. Removes it when the holder responds or the
   * client disconnects. Resolves with the result of the request.
   * @throws {Refused} when too many handover requests are pending.
   */
  async ask(
    { name, ...request }: AskRequest,
    { identity, client, signal }: RequesterFacts,
  ): Promise<HandoverResponse> {
    const claim$ = this.#settings.client.claim(name, {
      request,
      owner: identity?.name ?? 'browser',
      holding: [],
    });
    const response$ = defer(() => {
      const release = this.#asks.take(client);
      return responsesIn(claim$).pipe(finalize(release));
    }).pipe(takeUntil(abortOf(signal)));
    return firstValueFrom(response$, { defaultValue: { answer: 'ignored' } });
  }
}

interface ClaimProgress {
  readonly state: ClaimState;
  /**
   * Whether the entry with the handover request has ever waited in the queue, because another entry was ahead
   * of it.
   */
  readonly hasQueued: boolean;
}

const INITIAL: ClaimProgress = { state: { status: 'joining' }, hasQueued: false };

function responsesIn(claim$: ReturnType<LockClient['claim']>): Observable<HandoverResponse> {
  return claim$.pipe(
    scan(
      ({ hasQueued }: ClaimProgress, state: ClaimState) => ({
        state,
        hasQueued: hasQueued || state.status === 'queued',
      }),
      INITIAL,
    ),
    map(responseIn),
    filter((response) => response !== undefined),
  );
}

function responseIn({ state, hasQueued }: ClaimProgress): HandoverResponse | undefined {
  if (state.status === 'queued') return state.answer;
  if (state.status === 'held' || state.status === 'suspect')
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
