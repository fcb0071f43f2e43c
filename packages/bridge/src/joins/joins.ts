import { randomBytes, timingSafeEqual } from 'node:crypto';
import { follow } from '../follow.ts';
import type { Identity } from '../options.ts';
import { Refused } from '../refusal.ts';
import { EMPTY, finalize } from '../rx.ts';
import type { Joined, JoinKey, JoinRequest, Touched, TouchRequest } from '../wire.ts';
import { Join, type JoinTools } from './join.ts';
import type { Sign } from './silence.ts';

/** What joins are made with. */
export interface JoinsTools extends JoinTools {
  /** At a time, at most. */
  readonly most: number;
}

/** So long is told how a join has ended, to a page that was away meanwhile. */
const ENDED_KEPT_MS = 60_000;

/** The places that were taken through this bridge. All stand in the one session of its client, and end with it. */
export class Joins {
  readonly #tools: JoinsTools;
  readonly #joins = new Map<string, Join>();
  /** Those that hold, by the id of their entry. */
  readonly #holds = new Map<string, Join>();
  readonly #forgetting = new Set<() => void>();
  #open = 0;

  constructor(tools: JoinsTools) {
    this.#tools = tools;
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT`; `UNAVAILABLE` when there are too many. */
  join(request: JoinRequest, sign: Sign, identity: Identity | undefined): Joined {
    const { most, graceMs } = this.#tools;
    const { key = newKey() } = request;
    // Sent again, since its answer was lost.
    if (this.#joins.has(key.id)) return { ...this.get(key).key, graceMs };
    if (this.#open >= most)
      throw new Refused(503, 'UNAVAILABLE', `the bridge stands in ${String(most)} lines already, its limit`);
    const owner = identity?.name ?? request.owner ?? 'browser';
    const join = new Join({ key, request, owner, sign }, this.#tools);
    this.#open += 1;
    this.#joins.set(key.id, join);
    this.#follow(join);
    return { ...key, graceMs };
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
  touch({ joins }: TouchRequest): Touched {
    return { joins: joins.map((key) => this.#touched(key)) };
  }

  /** What is left of a hold of this bridge, by the id of the entry. */
  budgetOf(id: string | undefined): number | undefined {
    return id === undefined ? undefined : this.#holds.get(id)?.ownership?.remainingMs;
  }

  /** Leaves and releases everything; settles when the server has confirmed the releases. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#joins.values()].map((join) => join.leave()));
    for (const cancel of this.#forgetting) cancel();
  }

  #touched(key: JoinKey): Touched['joins'][number] {
    try {
      const join = this.get(key);
      join.silence.touch();
      return join.touched;
    } catch {
      return { id: key.id, keepsMs: 0, known: false, holds: false };
    }
  }

  #follow(join: Join): void {
    const { id } = join.key;
    let held: string | undefined;
    const note = (): void => {
      const now = join.ownership?.id;
      if (held !== undefined && held !== now) this.#holds.delete(held);
      if (now !== undefined) this.#holds.set(now, join);
      held = now;
    };
    const changes$ = join.hasEnded ? EMPTY : join.changed$;
    follow(changes$.pipe(finalize(() => this.#onEnd(id))), note);
    if (!join.hasEnded) note();
  }

  #onEnd(id: string): void {
    this.#open -= 1;
    const cancel = this.#tools.clock.after(ENDED_KEPT_MS, () => {
      this.#forgetting.delete(cancel);
      this.#joins.delete(id);
    });
    this.#forgetting.add(cancel);
  }
}

function newKey(): JoinKey {
  return { id: randomBytes(12).toString('hex'), secret: randomBytes(24).toString('base64url') };
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
