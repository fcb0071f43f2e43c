import { createLockClient, type Clock, type LockClient, type SessionState } from '@queuelock/core';
import { BehaviorSubject } from 'rxjs';
import { Heartbeats } from '../chaos/instrumented.ts';
import { Claim } from './claim.ts';
import { History, Life } from './history.ts';
import { PendingChanges } from './pending.ts';
import type { Situation } from './situation.ts';
import { FIRST_LIMIT, type Features, type Step } from './step.ts';
import type { Store } from './store.ts';
import { Views } from './views.ts';

/**
 * Heartbeat interval in milliseconds. A client notices the end of its session after this time at the latest.
 */
const HEARTBEAT_MS = 400;
const SAFETY_MARGIN_MS = 600;
const KEPT_RECORDS = 100;

export interface PlayerSetup {
  readonly store: Store;
  /** Prefix of the names of all queues that the script uses. */
  readonly prefix: string;
  readonly queues: readonly string[];
  readonly features: Features;
  readonly clock?: Clock;
}

/** A client of the script. The lock client is opened by the first claim, and again after `close`. */
interface Role {
  readonly life: Life;
  client: LockClient | undefined;
  session: SessionState;
}

/** Plays the steps of a script on a store, through the public interface of lock clients. */
export class Player {
  readonly history: History = new History();
  readonly #setup: PlayerSetup;
  readonly #claims = new Map<string, Claim>();
  readonly #roles = new Map<string, Role>();
  readonly #limit$ = new BehaviorSubject(FIRST_LIMIT);
  readonly #observer: LockClient;
  readonly #views: Views;
  readonly #pending = new PendingChanges();
  /**
   * Whether the step `drain` has begun, in which holders release at once. From then on the observable state
   * contains no handover requests.
   */
  #isDraining = false;

  constructor(setup: PlayerSetup) {
    this.#setup = setup;
    this.#observer = this.#open('observer', new Life('observer', this.history, this.#times()));
    const isOfSeveral = (name: string): boolean => (this.#claims.get(name)?.queues.length ?? 0) > 1;
    this.#views = new Views(this.#observer, { ...setup, isOfSeveral });
  }

  get situation(): Situation {
    return { claims: [...this.#claims.values()] };
  }

  get claims(): readonly Claim[] {
    return [...this.#claims.values()];
  }

  /** Whether the store has responded to every request to change an entry. */
  get isIdle(): boolean {
    return this.#pending.count === 0;
  }

  /**
   * The observable state, by which two stores are compared: a text for each claim, client and queue, and for
   * each list that an observer watches.
   */
  get state(): ReadonlyMap<string, string> {
    const state = new Map<string, string>();
    for (const claim of this.#claims.values()) {
      state.set(`claim ${claim.name}`, claim.text);
      const requests = this.#requestsTo(claim);
      if (requests.length > 0) state.set(`requests to ${claim.name}`, requests.join(', '));
    }
    for (const [name, { session }] of this.#roles) state.set(`session of ${name}`, statusOf(session));
    for (const queue of this.#setup.queues) state.set(`tokens of ${queue}`, tokensOf(queue, this.claims));
    return new Map([...state, ...this.#views.state]);
  }

  /**
   * Returns the names of the waiters whose handover requests the holder of this claim has received. Whether a
   * request arrives is a matter of chance if the holder loses its hold or the requester leaves, so such
   * requests are left out.
   */
  #requestsTo({ status, received }: Claim): readonly string[] {
    if (status !== 'holding' || this.#isDraining) return [];
    return received.filter((from) => this.#claims.get(from)?.status === 'waiting');
  }

  /**
   * Performs a step of the script. Resolves when the calls that it makes have settled, which may be long
   * after its effect on the store.
   */
  async perform(step: Step): Promise<void> {
    this.#views.unlist();
    switch (step.act) {
      case 'claim':
        this.#claim(step);
        return;
      case 'abort':
        this.#claims.get(step.claim)?.abort();
        return;
      case 'release':
      case 'downgrade':
      case 'update':
        await this.#claims.get(step.claim)?.[step.act]();
        return;
      case 'reply':
        await this.#claims.get(step.claim)?.reply(step.to, step.reply);
        return;
      case 'evict':
      case 'remove':
        await this.#remove(step);
        return;
      case 'end session':
      case 'close':
      case 'move':
        await this.#change(step);
        return;
      case 'limit':
        this.#limit$.next(step.limit);
        return;
      case 'list':
        this.#views.list();
        return;
      case 'drain':
        this.#isDraining = true;
        await Promise.all(this.claims.map((claim) => claim.release()));
    }
  }

  async close(): Promise<void> {
    this.#views.close();
    const clients = [...this.#roles.values()].flatMap(({ client }) => client ?? []);
    await Promise.all([...clients, this.#observer].map((client) => client.close()));
  }

  #times(): { readonly ttlMs: number; readonly safetyMarginMs: number } {
    return { ttlMs: this.#setup.store.ttlMs, safetyMarginMs: SAFETY_MARGIN_MS };
  }

  #open(owner: string, life: Life, resume?: string): LockClient {
    const { store, clock, features } = this.#setup;
    return createLockClient(new Heartbeats(life).around(this.#pending.around(store.connect())), {
      ...this.#times(),
      heartbeatIntervalMs: HEARTBEAT_MS,
      owner,
      ...(clock && { clock }),
      ...(features.records && { recordHolds: KEPT_RECORDS }),
      ...(resume !== undefined && { resume }),
    });
  }

  #roleOf(name: string): Role & { readonly client: LockClient } {
    let role = this.#roles.get(name);
    if (!role) {
      const life = new Life(name, this.history, this.#times());
      this.#roles.set(name, (role = { life, client: undefined, session: { status: 'idle' } }));
    }
    role.client ??= this.#follow(role, this.#open(name, role.life));
    return role as Role & { readonly client: LockClient };
  }

  #follow(role: Role, client: LockClient): LockClient {
    client.session$.subscribe((session) => {
      if (role.client === undefined || role.client === client) role.session = session;
    });
    return client;
  }

  #claim({ claim: name, client, queues, terms }: Extract<Step, { act: 'claim' }>): void {
    const { features, prefix } = this.#setup;
    const role = this.#roleOf(client);
    const nameOf = (queue: string): string => prefix + queue;
    const around = { life: role.life, features, nameOf, limit$: this.#limit$ };
    const claim = new Claim({ name, client, queues, terms, ...around });
    this.#claims.set(name, claim);
    claim.join(role.client);
  }

  async #remove({ act, claim, queue }: Extract<Step, { act: 'evict' | 'remove' }>): Promise<void> {
    const name = this.#setup.prefix + queue;
    const entry = this.#views.entry(queue, claim);
    if (!entry) return;
    this.history.removal(({ queue: at, order }) => at === name && order === entry.order);
    if (act === 'evict') await this.#observer.evict(name, entry, { reason: `${claim} is in the way` });
    else await this.#setup.store.removeEntry(name, entry);
  }

  async #change({ act, client: name }: Extract<Step, { client: string }>): Promise<void> {
    const role = this.#roles.get(name);
    if (!role?.client) return;
    if (act === 'end session') await this.#endSession(role, role.client);
    else if (act === 'move') await this.#move(name, role, role.client);
    else {
      const { client } = role;
      await client.close();
      if (role.client === client) role.client = undefined;
    }
  }

  async #endSession({ session: { id, status } }: Role, client: LockClient): Promise<void> {
    if (id === undefined || !['alive', 'suspect'].includes(status)) return;
    this.history.removal(({ session }) => session === id);
    await this.#setup.store.endSession(id, client);
  }

  async #move(name: string, role: Role, client: LockClient): Promise<void> {
    const claims = this.claims.filter((claim) => claim.client === name);
    await Promise.all(claims.map((claim) => claim.leaves('joining')));
    const resume = await client.exportSession();
    const live = claims.filter(({ status }) => status !== 'over');
    if (live.length === 0 || live.some(({ queues, isChanging }) => isChanging || queues.length > 1)) return;
    for (const claim of live) claim.isMoving = true;
    await client.abandon();
    role.client = undefined;
    role.client = this.#follow(role, this.#open(name, role.life, resume));
    for (const claim of live) claim.resume(role.client);
  }
}

/**
 * Returns the status of a client's session. `suspect` counts as `alive`, because which of the two it is
 * depends only on the time.
 */
function statusOf({ status }: SessionState): string {
  return status === 'suspect' ? 'alive' : status;
}

/**
 * Returns the names of the claims that have held the queue's lock, in the order of their tokens. A `=` marks
 * a claim with the same token as the claim before it.
 */
function tokensOf(queue: string, claims: readonly Claim[]): string {
  return claims
    .flatMap(({ name, tokens }) => {
      const token = tokens.get(queue);
      return token === undefined ? [] : [{ name, token }];
    })
    .sort((a, b) => (a.token < b.token ? -1 : a.token > b.token ? 1 : 0))
    .map(({ name, token }, at, all) => (token === all[at - 1]?.token ? `= ${name}` : name))
    .join(' ');
}
