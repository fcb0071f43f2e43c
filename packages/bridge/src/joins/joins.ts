import { randomBytes, timingSafeEqual } from 'node:crypto';
import { follow } from '../follow.ts';
import type { ClientId, Quota } from '../limits/quota.ts';
import type { Identity } from '../options.ts';
import { Refused } from '../refusal.ts';
import { EMPTY, finalize } from '../rx.ts';
import type { JoinResponse, JoinKey, JoinRequest, TouchResponse, TouchRequest } from '../wire.ts';
import { Join, type JoinTools } from './join.ts';
import type { Sign } from './idle-detector.ts';

/** The parts of a bridge that `Joins` uses. */
export interface JoinsTools extends JoinTools {
  /** Limits how many joins the bridge keeps, including ended ones that it still knows. */
  readonly joins: Quota;
  /** Limits how many handover requests may wait for a holder's response. */
  readonly asks: Quota;
}

/** The facts about a joining client, and how its page will prove that it is alive. */
export interface JoinerFacts {
  readonly sign: Sign;
  readonly identity: Identity | undefined;
  readonly client: ClientId;
}

/** The record of a join that has ended: its client, and the function that deletes the record. */
interface EndedJoin {
  readonly client: ClientId;
  readonly forget: () => void;
}

/**
 * Time in milliseconds for which the outcome of an ended join is kept, for a page that was disconnected when
 * it ended.
 */
const ENDED_KEPT_MS = 60_000;

/** All joins that pages made through this bridge. They are entries of the client's one session, and end with it. */
export class Joins {
  readonly #tools: JoinsTools;
  readonly #joins = new Map<string, Join>();
  /** Joins that hold, by the id of their entry. */
  readonly #holds = new Map<string, Join>();
  /** Ended joins, the oldest first. */
  readonly #ended = new Map<string, EndedJoin>();

  constructor(tools: JoinsTools) {
    this.#tools = tools;
  }

  /**
   * Adds a join. When a quota of joins is used up, the oldest ended joins are forgotten first.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for invalid options; `UNAVAILABLE` when there are too many
   * joins or handover requests
   */
  join(request: JoinRequest, { sign, identity, client }: JoinerFacts): JoinResponse {
    const { graceMs, joins, asks } = this.#tools;
    const { key = newKey() } = request;
    // The page may repeat a request whose response was lost, so the join may exist already.
    if (this.#joins.has(key.id)) return { ...this.get(key).key, graceMs };
    if (joins.isFullFor(client)) this.#forgetOldest((ended) => ended.client === client);
    if (joins.isFull) this.#forgetOldest(() => true);
    const releases: (() => void)[] = [];
    try {
      releases.push(joins.take(client));
      if (request.request) releases.push(asks.take(client));
      const owner = identity?.name ?? request.owner ?? 'browser';
      const join = new Join({ key, request, owner, sign }, this.#tools);
      this.#joins.set(key.id, join);
      const [forget = NOTHING, answered = NOTHING] = releases;
      this.#follow(join, { client, forget, answered });
      return { ...key, graceMs };
    } catch (error) {
      for (const release of releases) release();
      throw error;
    }
  }

  /**
   * Returns the join with the id and secret of the key.
   * @throws {Refused} when no join has the id, and in the same way when the secret is wrong
   */
  get({ id, secret }: JoinKey): Join {
    const join = this.#joins.get(id);
    if (join && isSame(join.key.secret, secret)) return join;
    throw new Refused(
      404,
      'SESSION_LOST',
      'the bridge does not know this join: it ended more than a minute ago, or the bridge was restarted',
    );
  }

  /** Keeps the joins of a page alive, and returns for how long the bridge keeps each. */
  touch({ joins }: TouchRequest): TouchResponse {
    return { joins: joins.map((key) => this.#touched(key)) };
  }

  /**
   * Returns for how many more milliseconds this bridge is proven to hold the lock with the entry `id`.
   * Returns `undefined` if no page of this bridge holds with that entry.
   */
  budgetOf(id: string | undefined): number | undefined {
    return id === undefined ? undefined : this.#holds.get(id)?.ownership?.remainingMs;
  }

  /** Leaves all queues and releases all locks. Resolves when the server has confirmed the releases. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#joins.values()].map((join) => join.leave()));
    for (const { forget } of this.#ended.values()) forget();
  }

  #touched(key: JoinKey): TouchResponse['joins'][number] {
    try {
      const join = this.get(key);
      join.idleDetector.touch();
      return join.touched;
    } catch {
      return { id: key.id, keepsMs: 0, known: false, holds: false };
    }
  }

  #follow(join: Join, { client, forget, answered }: JoinReleases): void {
    const { id } = join.key;
    let held: string | undefined;
    const note = (): void => {
      const now = join.ownership?.id;
      if (held !== undefined && held !== now) this.#holds.delete(held);
      if (now !== undefined) this.#holds.set(now, join);
      held = now;
      if (!join.hasPendingRequest) answered();
    };
    const onEnd = (): void => {
      answered();
      this.#onEnd(id, client, forget);
    };
    const changes$ = join.hasEnded ? EMPTY : join.changed$;
    follow(changes$.pipe(finalize(onEnd)), note);
    if (!join.hasEnded) note();
  }

  #onEnd(id: string, client: ClientId, release: () => void): void {
    const forget = (): void => {
      cancel();
      this.#ended.delete(id);
      this.#joins.delete(id);
      release();
    };
    const cancel = this.#tools.clock.after(ENDED_KEPT_MS, forget);
    this.#ended.set(id, { client, forget });
  }

  #forgetOldest(which: (ended: EndedJoin) => boolean): void {
    [...this.#ended.values()].find(which)?.forget();
  }
}

/**
 * The client of a join, and two functions that free its share of the quotas. `forget` is for the join itself,
 * and `answered` for its handover request.
 */
interface JoinReleases {
  readonly client: ClientId;
  readonly forget: () => void;
  readonly answered: () => void;
}

const NOTHING = (): void => undefined;

function newKey(): JoinKey {
  return { id: randomBytes(12).toString('hex'), secret: randomBytes(24).toString('base64url') };
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
