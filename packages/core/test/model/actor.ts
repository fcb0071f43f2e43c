import { memory } from '@queuelock/memory';
import { Subject } from 'rxjs';
import type { LockClient } from '../../src/index.ts';
import { Claim } from './claim.ts';
import { Network, type Fates } from './network.ts';
import type { ClaimPlan, ClientPlan } from './plan.ts';
import { Machine } from './timeline.ts';
import type { World } from './world.ts';

// A timer may run this much late.
const GRACE_MS = 2;

/** One client on its machine, and what its program does with it. */
export class Actor {
  readonly label: string;
  readonly machine: Machine;
  readonly network: Network;
  readonly client: LockClient;
  readonly claims: Claim[] = [];
  readonly #world: World;
  readonly #answerTimeoutMs: number;
  /** Every session that was opened for it. */
  readonly #sessions = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #doubts$ = new Subject<void>();
  readonly #refusedUntil = new Map<string, number>();
  #sessionId = '';
  #status = 'idle';
  closed = false;
  /** What `close` promised has come. */
  hasClosed = false;

  constructor(
    world: World,
    plan: ClientPlan,
    { index, fates }: { readonly index: number; readonly fates: Fates },
  ) {
    const { rate, ttlMs, marginMs, vague, deaf } = plan;
    this.label = `c${String(index)}`;
    this.#world = world;
    this.#answerTimeoutMs = Math.max(300, ttlMs / 8);
    this.machine = new Machine(world.timeline, { rate, bootedAt: 1_000 * index });
    this.network = new Network(world.timeline, this.machine, fates);
    const { intercept, deliver } = this.network;
    const connection = memory({ server: world.server, intercept, deliver });
    const backend = world.spoil?.(connection, world.server) ?? connection;
    this.client = world.core.createLockClient(
      world.ledger.witness(backend, {
        machine: this.machine,
        marginMs: marginMs ?? Math.max(200, ttlMs / 50),
        vague,
        deaf,
        sessions: this.#sessions,
        doubts$: this.#doubts$,
        refused: (queue) => (this.#refusedUntil.get(queue) ?? 0) > world.timeline.now(),
      }),
      {
        clock: this.machine,
        ttlMs,
        connectTimeoutMs: 1_000,
        owner: this.label,
        ...(marginMs === undefined ? {} : { marginMs }),
      },
    );
    this.client.session$.subscribe(({ status, id }) => this.#follow(status, id));
  }

  /** The session is beyond doubt, as far as the client tells. */
  get alive(): boolean {
    return this.#status === 'alive';
  }

  get sessionsLost(): number {
    return this.#ended.size;
  }

  sawTheEndOf(sessionId: string): boolean {
    return this.closed || this.#ended.has(sessionId);
  }

  /** Its backend has a reason to doubt its session. */
  doubt(): void {
    const { judge, ledger } = this.#world;
    const listens = this.alive && ledger.leaseOf(this.#sessionId).renewingSince === undefined;
    this.#doubts$.next();
    const renews = ledger.leaseOf(this.#sessionId).renewingSince !== undefined;
    const doubts = this.#status === 'doubtful' ? renews : !this.alive;
    judge.require('doubt', !listens || doubts, () => `${this.label} has no doubt`);
  }

  /** The server refuses it in this queue from now on. */
  deny(queue: string, ms: number): void {
    this.#refusedUntil.set(queue, this.#world.timeline.now() + ms);
  }

  wasRefused(queue: string): boolean {
    return this.#refusedUntil.has(queue);
  }

  /** Those of its holders who keep looking look. */
  lookAround(): void {
    for (const claim of this.claims) claim.look();
  }

  claim(plan: ClaimPlan): Claim {
    const claim = new Claim(this.#world, this, { label: `${this.label}.${this.claims.length}`, plan });
    this.claims.push(claim);
    return claim;
  }

  close(): void {
    const { judge } = this.#world;
    judge.note(`${this.label} closes`);
    this.closed = true;
    const closing = this.client.close();
    for (const claim of this.claims) claim.mustEnd('its client was closed');
    closing.then(
      () => {
        this.hasClosed = true;
        const { sessionIds } = this.#world.server;
        const left = !this.network.hadTrouble && sessionIds.some((id) => this.#sessions.has(id));
        judge.require('nothing left', !left, () => `${this.label} has closed, and its session is there`);
        const open = this.claims.filter((claim) => !claim.ended);
        judge.require('at once', open.length === 0, () => `${this.label} has closed before its claims ended`);
      },
      (error: unknown) => judge.require('outcome', false, () => `close failed: ${String(error)}`),
    );
  }

  /** A session whose renewal is overdue or failed is in doubt. */
  settled(): void {
    if (!this.alive) return;
    const { failed, renewingSince } = this.#world.ledger.leaseOf(this.#sessionId);
    const waitedMs = this.machine.now() - (renewingSince ?? Infinity);
    const overdue = waitedMs > this.#answerTimeoutMs + GRACE_MS && !this.machine.late;
    this.#world.judge.require('doubt', !failed && !overdue, () => `${this.label} is not in doubt`);
  }

  #follow(status: string, id: string | undefined): void {
    const { judge } = this.#world;
    judge.note(`${this.label} session ${status} ${id ?? ''}`);
    judge.require('no way back', this.#status !== 'closed', () => `${this.label} is ${status} after closed`);
    this.#status = status;
    this.lookAround();
    if (status === 'opening') this.#sessionId = '';
    if (id !== undefined) this.#sessionId = id;
    if (status !== 'lost' || this.#sessionId === '') return;
    this.#ended.add(this.#sessionId);
    for (const claim of this.claims) claim.sessionEnded(this.#sessionId);
  }
}
