import type { EntrySpec, Placement, Session } from '@queuelock/core/backend';
import type { Naming } from '@queuelock/etcd';
import { benchOf, type Bench } from './bench.ts';
import { Clients, freshQueue, wish, type TurnLog } from './clients.ts';

/** An entry in the line. */
export interface Place {
  readonly session: Session;
  readonly spec: EntrySpec;
  readonly placement: Placement;
}

/** A queue for each test of naming `fast`, and what is done with it. */
export class FastBench {
  readonly at: Bench<Clients> = benchOf(new Clients());
  queue = '';

  /** Defines the hooks of the suite in which it is made. */
  constructor() {
    beforeEach(() => {
      this.queue = freshQueue();
    });
  }

  /** Of that naming, reached directly or by these hosts, which may lose replies. */
  open(naming: Naming = 'fast', hosts?: readonly string[]): Promise<Session> {
    return this.at.clients.session({
      hosts: hosts ?? this.at.server.endpoint,
      naming,
      heartbeatProof: 'verified',
    });
  }

  async enter(session: Session, more: Partial<EntrySpec> = {}): Promise<Place> {
    const spec = wish(this.queue, more);
    return { session, spec, placement: await session.enqueue(spec) };
  }

  leave({ session, spec }: Place): Promise<boolean> {
    return session.remove(spec.queue, spec.id);
  }

  follow({ placement }: Place): TurnLog {
    return this.at.clients.follow(placement);
  }

  /** Who enters from now on goes by the tail, as in a long line, until an owner leaves as the last one. */
  makeLong(): Promise<void> {
    return this.at.operator.clutter(this.#tailKey, { puts: 50, bytes: 1 });
  }

  /** Of the entries, in their order. */
  keys(): Promise<string[]> {
    return this.at.operator.keysUnder(`${this.queue}/`);
  }

  /** What the tail says, if there is one. */
  async tail(): Promise<string | undefined> {
    return (await this.at.operator.under(this.#tailKey))[this.#tailKey];
  }

  get #tailKey(): string {
    return `.queuelock/tail/${this.queue}`;
  }
}
