import type { Eviction, LockClient, QueueEntry, QueueState, RecordedHoldsState } from '@queuelock/core';
import { filter, Subscription, switchMap, type Observable } from 'rxjs';
import type { Features } from './step.ts';

export interface ViewsSetup {
  readonly prefix: string;
  readonly queues: readonly string[];
  readonly features: Features;
  /** Returns whether the claim with the given name requests locks of several names. */
  readonly isOfSeveral: (claim: string) => boolean;
}

/** The state of a script's queues as one client observes it. */
export class Views {
  readonly #observer: LockClient;
  readonly #prefix: string;
  readonly #all = new Subscription();
  readonly #entries = new Map<string, QueueState>();
  readonly #evictions = new Map<string, readonly Eviction[]>();
  readonly #records = new Map<string, RecordedHoldsState>();
  readonly #isOfSeveral: (claim: string) => boolean;
  #list: Subscription | undefined;
  #listed: string | undefined;

  constructor(observer: LockClient, { prefix, queues, features, isOfSeveral }: ViewsSetup) {
    this.#observer = observer;
    this.#prefix = prefix;
    this.#isOfSeveral = isOfSeveral;
    for (const queue of queues) {
      const name = prefix + queue;
      this.#follow(observer.watch(name), (state) => this.#entries.set(queue, state));
      if (features.evictions)
        this.#follow(observer.evictions(name), (all) => this.#evictions.set(queue, all));
      if (features.records)
        this.#follow(observer.recordedHolds(name), (all) => this.#records.set(queue, all));
    }
  }

  get state(): ReadonlyMap<string, string> {
    const state = new Map<string, string>();
    for (const [queue, { status, entries }] of this.#entries)
      state.set(`queue ${queue}`, `${status}: ${entries.map((entry) => entryText(entry)).join('; ')}`);
    for (const [queue, evictions] of this.#evictions)
      state.set(`evictions from ${queue}`, evictions.map((each) => evictionText(each)).join('; '));
    for (const [queue, { status, holds }] of this.#records) {
      const texts = holds.map((hold) => {
        // When a claim of several names is lost, the client records one of its holds as lost and the others
        // as released. Which one depends on chance, so the reasons of these holds are left out.
        if (this.#isOfSeveral(hold.owner)) return `${hold.owner} ${hold.status}`;
        const by = 'eviction' in hold ? ` by ${hold.eviction.by}` : '';
        return `${hold.owner} ${'reason' in hold ? hold.reason : hold.status}${by}`;
      });
      // Holds that begin or end at the same time may be recorded in any order.
      state.set(`records of ${queue}`, `${status}: ${texts.sort().join('; ')}`);
    }
    if (this.#list) state.set('list', this.#listed ?? 'not read yet');
    return state;
  }

  /** Returns the entry of a claim in a queue, if the observer sees one. */
  entry(queue: string, claim: string): QueueEntry | undefined {
    return this.#entries.get(queue)?.entries.find(({ owner }) => owner === claim);
  }

  /**
   * Keeps a list of the queues up to date until the method `unlist` is called. For each queue it has the
   * owners of the entries, in the order of their tokens.
   */
  list(): void {
    this.#listed = undefined;
    const listed$ = this.#observer.queues(this.#prefix).pipe(
      filter(({ status }) => status === 'live'),
      switchMap(async ({ queues }) => {
        const texts = queues.map(async ({ name, depth }) => {
          const queue = name.slice(this.#prefix.length);
          return `${queue} ${depth}: ${await this.#byToken(queue)}`;
        });
        return (await Promise.all(texts)).sort().join('; ');
      }),
    );
    this.#list = listed$.subscribe((listed) => (this.#listed = listed));
  }

  unlist(): void {
    this.#list?.unsubscribe();
    this.#list = undefined;
  }

  close(): void {
    this.unlist();
    this.#all.unsubscribe();
  }

  async #byToken(queue: string): Promise<string> {
    const { entries = [] } = this.#entries.get(queue) ?? {};
    const tokens = await Promise.all(
      entries.map(async (entry) => ({
        owner: entry.owner,
        token: (await this.#observer.tokenOf(this.#prefix + queue, entry)) ?? 0n,
      })),
    );
    return tokens
      .sort((a, b) => (a.token < b.token ? -1 : 1))
      .map(({ owner, token }) => (token === 0n ? `${owner} without a token` : owner))
      .join(' ');
  }

  #follow<T>(view$: Observable<T>, next: (value: T) => void): void {
    this.#all.add(view$.subscribe(next));
  }
}

function entryText(entry: QueueEntry): string {
  const { owner, shared, limit, permits, metadata, request } = entry;
  const parts = [
    owner,
    shared ? 'shared' : '',
    limit > 1 ? `${permits} of ${limit}` : '',
    metadata['updated'] === undefined ? '' : 'updated',
    request ? 'requests' : '',
  ];
  return parts.filter(Boolean).join(' ');
}

function evictionText({ entry, kind, by, reason }: Eviction): string {
  return `${entry.owner} ${kind} by ${by}: ${reason}`;
}
