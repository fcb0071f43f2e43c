import { randomBytes } from 'node:crypto';
import type { Backend, ObserveOptions, Session } from '@queuelock/core/backend';
import { Board } from './board.ts';
import { Client, type Opened } from './client.ts';
import type { Contender } from './contender.ts';
import { longestWaitMs, type BackendHarness } from './harness.ts';
import type { Fixture } from './fixture.ts';
import { lacks } from './lacks.ts';
import { QueueWatch } from './queue-watch.ts';
import { Referee } from './referee.ts';
import { SafetyViolation } from './safety.ts';

/** TTL of sessions whose expiry is not tested: five times the harness's TTL, and at least 10 s, so that a slow machine does not fail a fact. */
const COMFORT = 5;
const COMFORT_MS = 10_000;

/** Fixture for the check of one fact: a new queue, its clients, and the events that happened. */
export class Stage implements Fixture {
  readonly harness: BackendHarness;
  readonly queue: string = `conformance-${randomBytes(6).toString('hex')}`;
  readonly board: Board;
  readonly referee: Referee = new Referee();
  readonly now: () => number;
  readonly #backends: Backend[] = [];
  readonly #clients: Client[] = [];

  constructor(harness: BackendHarness) {
    this.harness = harness;
    this.board = new Board(longestWaitMs(harness));
    this.now = () => harness.now?.() ?? performance.now();
  }

  async connect(): Promise<Backend> {
    const backend = await this.board.within('connect answers', this.harness.connect());
    this.#backends.push(backend);
    return backend;
  }

  /** Opens a session, on a new connection unless one is given. */
  async client(on?: Backend, ttlMs?: number): Promise<Client> {
    const comfortMs = Math.max(COMFORT * this.harness.ttlMs, COMFORT_MS);
    const backend = on ?? (await this.connect());
    const calledAt = this.now();
    const session = await this.board.within(
      'open answers',
      backend.open(ttlMs ?? comfortMs, new AbortController().signal),
    );
    return this.#enlist(backend, { session, promisedUntil: calledAt + session.ttlMs });
  }

  /** Resumes a session, on a new connection. */
  async resume(resumption: string | undefined): Promise<Client> {
    const backend = await this.connect();
    const session = await this.board.within('resume answers', resume(backend, resumption));
    const before = this.#clients.findLast((client) => client.session.id === session.id);
    return this.#enlist(backend, { session, promisedUntil: before?.promisedUntil ?? 0 });
  }

  /**
   * Abandons the session of a client and closes its connection, as a process does that exits. Resolves with the data that another process needs to
   * resume the session.
   */
  async abandon(client: Client): Promise<string | undefined> {
    const { resumption } = client.session;
    await client.abandon();
    await this.disconnect(client.backend);
    return resumption;
  }

  /** Closes a connection before the check of the fact ends. */
  async disconnect(backend: Backend): Promise<void> {
    this.#backends.splice(this.#backends.indexOf(backend), 1);
    await this.board.within('close answers', backend.close());
  }

  /** Opens three clients, each with its own connection. */
  async threeClients(): Promise<[Client, Client, Client]> {
    return [await this.client(), await this.client(), await this.client()];
  }

  /** Watches a queue through a new connection. */
  async watch(queue: string = this.queue): Promise<QueueWatch> {
    return this.watchOn(await this.connect(), queue);
  }

  watchOn(backend: Backend, queue: string = this.queue, observeOptions: ObserveOptions = {}): QueueWatch {
    return new QueueWatch(this, backend, { queue, ...observeOptions });
  }

  /** Reads the queue once through every connection. When it resolves, all messages that the store sent before the call have arrived. */
  async settle(queue: string = this.queue): Promise<void> {
    const watches = this.#backends.map((backend) => this.watchOn(backend, queue));
    for (const watch of watches) await watch.untilFirst();
    for (const watch of watches) watch.stop();
  }

  /** Removes the contender's entry as an operator does, without the backend. */
  async evict(contender: Contender): Promise<void> {
    contender.giveUp();
    await this.harness.evict?.(contender.placement.key);
  }

  #enlist(backend: Backend, opened: Opened): Client {
    const client = new Client(this, backend, opened);
    this.#clients.push(client);
    return client;
  }

  /** Closes all sessions and connections. Throws if the referee has seen violations. */
  async close(): Promise<void> {
    try {
      await Promise.all(this.#clients.map((client) => client.close()));
    } finally {
      await this.board.within('close answers', Promise.all(this.#backends.map((backend) => backend.close())));
    }
    const { faults, isUnsafe } = this.referee;
    if (faults.length > 0) throw new (isUnsafe ? SafetyViolation : Error)(faults.join('; '));
  }
}

async function resume(backend: Backend, resumption: string | undefined): Promise<Session> {
  if (resumption === undefined) return lacks('Session.resumption');
  return backend.resume?.(resumption, new AbortController().signal) ?? lacks('Backend.resume');
}
