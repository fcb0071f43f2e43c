import type { EntrySpec, Placement, Session } from '@queuelock/core/backend';
import type { Naming } from '@queuelock/etcd';
import { benchOf, type Bench } from './bench.ts';
import { Clients, freshQueue, newSpec, type TurnLog } from './clients.ts';

/** An entry with its session, its specification and the result of its enqueue. */
export interface QueuedEntry {
  readonly session: Session;
  readonly spec: EntrySpec;
  readonly placement: Placement;
}

/** Provides a new queue with naming `fast` for each test, with sessions and entries of that queue. */
export class FastBench {
  readonly at: Bench<Clients> = benchOf(new Clients());
  queue = '';

  /** Registers a Mocha hook in the suite that creates this object, which chooses a new queue for each test. */
  constructor() {
    beforeEach(() => {
      this.queue = freshQueue();
    });
  }

  /**
   * Opens a session whose queues have the given naming. It connects directly to the server, or through the proxies with the endpoints `hosts`, which
   * can lose replies.
   */
  open(naming: Naming = 'fast', hosts?: readonly string[]): Promise<Session> {
    return this.at.clients.session({
      hosts: hosts ?? this.at.server.endpoint,
      naming,
      heartbeatProof: 'verified',
    });
  }

  async enter(session: Session, more: Partial<EntrySpec> = {}): Promise<QueuedEntry> {
    const spec = newSpec(this.queue, more);
    return { session, spec, placement: await session.enqueue(spec) };
  }

  leave({ session, spec }: QueuedEntry): Promise<boolean> {
    return session.remove(spec.queue, spec.id);
  }

  follow({ placement }: QueuedEntry): TurnLog {
    return this.at.clients.follow(placement);
  }

  /**
   * Raises the version of the key that is the queue's tail. So enqueues treat the queue as a long one, and its tail stays when an entry is cancelled.
   */
  makeLong(): Promise<void> {
    return this.at.operator.clutter(this.#tailKey, { puts: 50, bytes: 1 });
  }

  /** Returns the keys of the queue's entries in order. */
  keys(): Promise<string[]> {
    return this.at.operator.keysUnder(`${this.queue}/`);
  }

  /** Returns the value of the key that is the queue's tail, if that key exists. */
  async tail(): Promise<string | undefined> {
    return (await this.at.operator.under(this.#tailKey))[this.#tailKey];
  }

  get #tailKey(): string {
    return `.queuelock/tail/${this.queue}`;
  }
}
