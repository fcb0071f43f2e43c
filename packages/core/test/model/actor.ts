import { memory } from '@queuelock/memory';
import { Subject } from 'rxjs';
import type { Backend } from '../../src/backend.ts';
import type { LockClient, SessionState } from '../../src/index.ts';
import { Claim } from './claim.ts';
import { Network, type Fates } from './network.ts';
import type { ClaimPlan, ClientPlan } from './plan.ts';
import { Program } from './program.ts';
import { Machine } from './timeline.ts';
import type { World } from './world.ts';

const CONNECT_TIMEOUT_MS = 1_000;
// Maximum delay of the client's timers, in milliseconds.
const GRACE_MS = 2;

/** Maps each state of a session to the states that may follow it. */
const NEXT: Record<SessionState['status'], readonly SessionState['status'][]> = {
  idle: ['idle', 'opening', 'closed'],
  opening: ['alive', 'lost', 'closed'],
  alive: ['suspect', 'lost', 'closed'],
  suspect: ['alive', 'lost', 'closed'],
  lost: ['opening', 'closed'],
  closed: [],
};

interface ActorSettings {
  readonly index: number;
  readonly fates: Fates;
  readonly lockDelayMs: number;
}

/** One simulated client with its machine, its network and the programs that use it. */
export class Actor {
  readonly label: string;
  readonly machine: Machine;
  readonly network: Network;
  readonly client: LockClient;
  readonly programs: Program[] = [];
  readonly #world: World;
  readonly #plan: ClientPlan;
  readonly #doubts$ = new Subject<void>();
  readonly #refusedUntil = new Map<string, number>();
  /** The ids of all sessions that were opened for this client. */
  readonly #opened = new Set<string>();
  /** The ids of the sessions that this client has reported as lost. */
  readonly #ended = new Set<string>();
  #openingSince = 0;
  #sessionId = '';
  #status: SessionState['status'] = 'idle';
  closed = false;
  /** Whether the `close` of the lock client has resolved. */
  hasClosed = false;

  constructor(world: World, plan: ClientPlan, { index, fates, ...settings }: ActorSettings) {
    const { rate, ttlMs, safetyMarginMs } = plan;
    this.label = `c${String(index)}`;
    this.#world = world;
    this.#plan = plan;
    this.machine = new Machine(world.timeline, { rate, bootedAt: 1_000 * index });
    this.network = new Network(world.timeline, this.machine, fates);
    const clock = this.machine;
    const options = { ...settings, clock, ttlMs, connectTimeoutMs: CONNECT_TIMEOUT_MS, owner: this.label };
    this.client = world.core.createLockClient(
      this.#backend(),
      safetyMarginMs === undefined ? options : { ...options, safetyMarginMs },
    );
    this.client.session$.subscribe((state) => this.#follow(state));
  }

  #backend(): Backend {
    const { server, spoil, ledger, timeline } = this.#world;
    const { safetyMarginMs, ttlMs, vague, deaf } = this.#plan;
    const { intercept, deliver } = this.network;
    const connection = memory({ server, intercept, deliver });
    return ledger.witness(spoil?.(connection, server) ?? connection, {
      machine: this.machine,
      safetyMarginMs: safetyMarginMs ?? Math.max(200, ttlMs / 50),
      vague,
      deaf,
      opened: this.#opened,
      doubts$: this.#doubts$,
      refused: (queue) => (this.#refusedUntil.get(queue) ?? 0) > timeline.now(),
    });
  }

  /** Whether the client's latest session state is `alive`. */
  get alive(): boolean {
    return this.#status === 'alive';
  }

  get sessionsLost(): number {
    return this.#ended.size;
  }

  sawTheEndOf(sessionId: string): boolean {
    return this.closed || this.#ended.has(sessionId);
  }

  wasRefused(queue: string): boolean {
    return this.#refusedUntil.has(queue);
  }

  // --- Actions and faults of a history that concern this client.

  program(plan: ClaimPlan): Program {
    const label = `${this.label}.${String(this.programs.length)}`;
    const program = new Program(this.#world, new Claim(this.#world, this, { label, plan }));
    this.programs.push(program);
    this.#world.programs.push(program);
    return program;
  }

  /**
   * Makes the backend report a reason to suspect the session. Checks that the client then suspects the session
   * and sends a heartbeat, unless a heartbeat is already in flight.
   */
  doubt(): void {
    const { judge, ledger } = this.#world;
    const renews = (): boolean => ledger.leaseOf(this.#sessionId).renewingSince !== undefined;
    const listens = this.alive && !renews();
    this.#doubts$.next();
    const doubts = this.#status === 'suspect' ? renews() : !this.alive;
    judge.require('doubt', !listens || doubts, () => `${this.label} has no doubt`);
  }

  /**
   * Makes the server refuse this client's requests about the given queue during the next `ms` milliseconds.
   */
  deny(queue: string, ms: number): void {
    this.#refusedUntil.set(queue, this.#world.timeline.now() + ms);
  }

  close(): void {
    const { judge } = this.#world;
    judge.note(`${this.label} closes`);
    this.closed = true;
    const closing = this.client.close();
    for (const { claim } of this.programs) claim.mustEnd('its client was closed');
    closing.then(
      () => this.#haveClosed(),
      (error: unknown) => judge.require('outcome', false, () => `close failed: ${String(error)}`),
    );
  }

  /**
   * Reads `held` of each hold of this client whose plan includes reads after every event (`ClaimPlan.reads`).
   */
  readAll(): void {
    for (const { claim } of this.programs) claim.read();
  }

  settled(): void {
    for (const { claim } of this.programs) claim.settled();
    if (this.#status === 'opening' && !this.machine.late) {
      const late = this.machine.now() - this.#openingSince > CONNECT_TIMEOUT_MS + GRACE_MS;
      this.#world.judge.require('at once', !late, () => `${this.label} tries to connect for ever`);
    }
    if (!this.alive) return;
    const { failed, renewingSince = Infinity } = this.#world.ledger.leaseOf(this.#sessionId);
    const maxWaitMs = Math.max(300, this.#plan.ttlMs / 8) + GRACE_MS;
    const overdue = this.machine.now() - renewingSince > maxWaitMs && !this.machine.late;
    this.#world.judge.require('doubt', !failed && !overdue, () => `${this.label} is not in doubt`);
  }

  #haveClosed(): void {
    const { judge, server } = this.#world;
    this.hasClosed = true;
    const ended = this.programs.every(({ claim }) => claim.ended);
    judge.require('at once', ended, () => `${this.label} has closed before its claims ended`);
    const left = !this.network.hadFailure && server.sessionIds.some((id) => this.#opened.has(id));
    judge.require('nothing left', !left, () => `${this.label} has closed, and its session is there`);
  }

  #follow({ status, id }: SessionState): void {
    const { judge } = this.#world;
    judge.note(`${this.label} session ${status} ${id ?? ''}`);
    const follows = NEXT[this.#status].includes(status);
    judge.require('no way back', follows, () => `${this.label} is ${status} after ${this.#status}`);
    this.#status = status;
    this.readAll();
    if (status === 'opening') {
      this.#sessionId = '';
      this.#openingSince = this.machine.now();
    }
    if (id !== undefined) this.#sessionId = id;
    if (status !== 'lost' || this.#sessionId === '') return;
    this.#ended.add(this.#sessionId);
    for (const { claim } of this.programs) claim.sessionEnded(this.#sessionId);
  }
}
