import { randomBytes, timingSafeEqual } from 'node:crypto';
import { follow } from '../follow.ts';
import type { ClientId, Quota } from '../limits/quota.ts';
import type { Identity } from '../options.ts';
import { Refused } from '../refusal.ts';
import { EMPTY, finalize } from '../rx.ts';
import type { JoinResponse, JoinKey, JoinRequest, TouchResponse, TouchRequest } from '../wire.ts';
import { Join, type JoinTools } from './join.ts';
import type { Sign } from './idle-detector.ts';

/** What joins are made with. */
export interface JoinsTools extends JoinTools {
  /** Places, with those that have ended and are still known. */
  readonly joins: Quota;
  /** Requests to holders that are not answered. */
  readonly asks: Quota;
}

/** The client that joins, and how its page will show that it is there. */
export interface JoinerFacts {
  readonly sign: Sign;
  readonly identity: Identity | undefined;
  readonly client: ClientId;
}

/** A join that has ended. */
interface EndedJoin {
  readonly client: ClientId;
  readonly forget: () => void;
}

/** So long is told how a join has ended, to a page that was away meanwhile. */
const ENDED_KEPT_MS = 60_000;

/** The places that were taken through this bridge. All stand in the one session of its client, and end with it. */
export class Joins {
  readonly #tools: JoinsTools;
  readonly #joins = new Map<string, Join>();
  /** Those that hold, by the id of their entry. */
  readonly #holds = new Map<string, Join>();
  /** Those that ended first come first. */
  readonly #ended = new Map<string, EndedJoin>();

  constructor(tools: JoinsTools) {
    this.#tools = tools;
  }

  /**
   * What has ended makes room for what begins.
   * @throws {QueueLockError} `INVALID_ARGUMENT`; `UNAVAILABLE` when there are too many joins, or too many requests to holders.
   */
  join(request: JoinRequest, { sign, identity, client }: JoinerFacts): JoinResponse {
    const { graceMs, joins, asks } = this.#tools;
    const { key = newKey() } = request;
    // Sent again, since its answer was lost.
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

  /** @throws {Refused} when it is not known; the same for a wrong secret. */
  get({ id, secret }: JoinKey): Join {
    const join = this.#joins.get(id);
    if (join && isSame(join.key.secret, secret)) return join;
    throw new Refused(
      404,
      'SESSION_LOST',
      'the bridge does not know this join: it has ended, or the bridge is another one',
    );
  }

  /** A touch keeps a join. */
  touch({ joins }: TouchRequest): TouchResponse {
    return { joins: joins.map((key) => this.#touched(key)) };
  }

  /** What is left of a hold of this bridge, by the id of the entry. */
  budgetOf(id: string | undefined): number | undefined {
    return id === undefined ? undefined : this.#holds.get(id)?.ownership?.remainingMs;
  }

  /** Leaves and releases everything; settles when the server has confirmed the releases. */
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
      if (!join.isAsking) answered();
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

/** The client of a join, and what gives back the limits that the join counts in. */
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
