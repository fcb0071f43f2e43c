import type {
  ClaimOutcome,
  ClaimState,
  Hold,
  LockClient,
  MultiClaimState,
  Ownership,
  QueueLockError,
} from '@queuelock/core';
import { election, type Leadership } from '@queuelock/recipes';
import { EMPTY, Observable, from, of, switchMap, type Subscriber } from 'rxjs';
import type { Terms } from '@queuelock/harness/check/event';
import type { Heartbeats } from './instrumented.ts';

/** The properties of a hold that identify its entry in the queue. */
export type Spot = Pick<Ownership, 'order' | 'token' | 'key'>;

/** A hold of a lock of any kind, or a leadership. */
export interface Held {
  readonly hold: Pick<Hold, 'held' | 'remainingMs' | 'signal' | 'release'>;
  /** The entries of the hold: one for each name, in the order of the names. */
  readonly spots: readonly Spot[];
  /** Turns the hold of a write lock into that of a read lock. Present for a write lock of a single name. */
  readonly downgrade?: () => Promise<void>;
}

/** The states that a claim of any kind goes through. */
export type Seen =
  | { readonly status: 'queued'; readonly spots: readonly Spot[] }
  | { readonly status: 'held' | 'suspect'; readonly held: Held }
  | ({ readonly status: 'ended' } & ClaimOutcome);

export interface Wanted {
  readonly names: readonly [string, ...string[]];
  readonly terms: Terms;
  /** Owner label of the claim's entries. It is unique in this process. */
  readonly label: string;
  /** Signal whose abort ends the claim while it waits. */
  readonly signal: AbortSignal;
}

export interface ClaimTools {
  readonly client: LockClient;
  readonly heartbeats: Heartbeats;
}

/**
 * Returns the claim as a stream, and joins the queue on subscription. The stream never errors. It completes
 * when the claim has ended and its entries are removed.
 */
export function claimed(tools: ClaimTools, wanted: Wanted): Observable<Seen> {
  const { terms, names } = wanted;
  if (terms.leader) return placedAnd(tools, wanted, leading(tools.client, wanted));
  if (names.length > 1) return placedAnd(tools, wanted, several(tools.client, wanted));
  return single(tools.client, wanted);
}

function single(client: LockClient, { names: [name], terms, signal }: Wanted): Observable<Seen> {
  const { limit, permits } = terms;
  const options = {
    signal,
    ...modeOf(terms),
    ...(limit === undefined ? {} : { limit }),
    ...(permits === undefined ? {} : { permits }),
  };
  return client.claim(name, options).pipe(switchMap(seenOfOne));
}

function seenOfOne(state: ClaimState): Observable<Seen> {
  if (state.status === 'joining') return EMPTY;
  if (state.status === 'ended') return of(state);
  if (state.status === 'queued') return of({ status: 'queued', spots: [state] });
  const { status, ownership } = state;
  const held = { hold: ownership, spots: [ownership], downgrade: () => ownership.downgrade() };
  return of({ status, held });
}

function several(client: LockClient, { names, terms, label, signal }: Wanted): Observable<Seen> {
  function seen(state: MultiClaimState): Observable<Seen> {
    if (state.status === 'ended') return of(state);
    if (state.status === 'joining' || state.status === 'queued') return EMPTY;
    const { status, ownership } = state;
    return of({ status, held: { hold: ownership, spots: names.map((name) => ownership.of(name)) } });
  }
  return client
    .multi(names)
    .claim({ signal, owner: label, ...modeOf(terms) })
    .pipe(switchMap(seen));
}

function modeOf({ shared }: Terms): { readonly mode?: 'shared' } {
  return shared ? { mode: 'shared' } : {};
}

function leading(client: LockClient, { names: [name], label, signal }: Wanted): Observable<Seen> {
  return new Observable((subscriber) => {
    const campaign$ = from(election(client, name, { value: label }).campaign({ signal }));
    const elected = campaign$.subscribe({
      next: (leadership) => lead(leadership, subscriber),
      error: (error: unknown) => end(subscriber, { outcome: 'failed', error }),
    });
    subscriber.add(elected);
  });
}

function lead(leadership: Leadership, subscriber: Subscriber<Seen>): void {
  const hold: Held['hold'] = {
    get held() {
      return leadership.held;
    },
    get remainingMs() {
      return leadership.remainingMs;
    },
    get signal() {
      return leadership.signal;
    },
    async release() {
      await leadership.resign();
      end(subscriber, { outcome: 'released' });
    },
  };
  const { signal } = leadership;
  const reason = (): QueueLockError => signal.reason as QueueLockError;
  // Reports a failed claim instead of a hold if the leadership was lost before the leader's work begins.
  if (signal.aborted) {
    end(subscriber, { outcome: 'failed', error: reason() });
    return;
  }
  signal.addEventListener('abort', () => end(subscriber, { outcome: 'lost', error: reason() }));
  subscriber.next({ status: 'held', held: { hold, spots: [leadership] } });
}

function end(subscriber: Subscriber<Seen>, outcome: ClaimOutcome): void {
  subscriber.next({ status: 'ended', ...outcome });
  subscriber.complete();
}

/**
 * Returns the claim with additional states `queued`. It is for a kind of claim that emits no positions: they
 * come from the responses to its enqueues, which the session has recorded.
 */
function placedAnd(
  { heartbeats }: ClaimTools,
  { names, label }: Wanted,
  claim$: Observable<Seen>,
): Observable<Seen> {
  return new Observable((subscriber) => {
    const known = new Map<string, Spot>();
    const silence = heartbeats.hear(label, (queue, spot) => {
      const before = known.get(queue);
      // If an entry with another order number appears, the claim has joined all of its queues again. So its
      // former entries are forgotten.
      if (before && before.order !== spot.order) known.clear();
      known.set(queue, spot);
      const spots = names.flatMap((name) => known.get(name) ?? []);
      if (spots.length === names.length) subscriber.next({ status: 'queued', spots });
    });
    subscriber.add(silence);
    subscriber.add(claim$.subscribe(subscriber));
  });
}
