import {
  QueueLockError,
  isQueueLockError,
  type EntrySpec,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import type { Link, MemoryCall } from './link.ts';
import type { Entry } from './queue.ts';
import type { Server } from './server.ts';
import type { Granted } from './sessions.ts';

/** The client's side of a session. Its requests go over `link`, which simulates the network to the server. */
export class MemorySession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  /** The session id. It needs no secret, because code that has the server object has full access anyway. */
  readonly resumption: string;
  readonly traces: HoldTraces;
  readonly #server: Server;
  readonly #link: Link;
  readonly #underWay: Granted['underWay'];
  readonly #tenancy: number;
  #abandoned = false;

  constructor(server: Server, link: Link, { id, ttlMs, underWay, tenancy }: Granted) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.resumption = id;
    this.#server = server;
    this.#link = link;
    this.#underWay = underWay;
    this.#tenancy = tenancy;
    this.traces = {
      leave: (queue, entryId) =>
        this.#call('leaveTrace', () => server.leaveTrace(id, { queue, id: entryId })),
      erase: (queue, ids) => this.#call('eraseTraces', () => server.eraseTraces(id, queue, ids)),
    };
  }

  renew(signal: AbortSignal): Promise<number> {
    return this.#call('renew', () => this.#server.renew(this.id).ttlMs, signal);
  }

  enqueue(spec: EntrySpec): Promise<Placement> {
    const arrive = this.#underWay.send([spec.id]);
    return this.#call('enqueue', () => {
      requireUnremoved(arrive(), spec);
      return this.#placement(this.#server.enqueue(this.id, spec));
    });
  }

  enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const arrive = this.#underWay.send(specs.map(({ id }) => id));
    return this.#call('enqueueAll', () => {
      if (!arrive()) this.#server.loseAll(this.id, specs);
      return this.#server.enqueueAll(this.id, specs).map((entry) => this.#placement(entry));
    });
  }

  tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const arrive = this.#underWay.send([spec.id]);
    return this.#call('tryEnqueue', () => {
      requireUnremoved(arrive(), spec);
      const entry = this.#server.tryEnqueue(this.id, spec);
      return entry && this.#placement(entry);
    });
  }

  update(queue: string, id: string, value: string): Promise<boolean> {
    return this.#call('update', () => this.#server.update(this.id, { queue, id }, value));
  }

  share(queue: string, id: string, value: string): Promise<boolean> {
    return this.#call('share', () => this.#server.share(this.id, { queue, id }, value));
  }

  async remove(queue: string, id: string): Promise<boolean> {
    try {
      return await this.#call('remove', () => {
        this.#underWay.refuse(id);
        return this.#server.remove(this.id, { queue, id });
      });
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  removeUnclaimed(): Promise<void> {
    return this.#call('removeUnclaimed', () => {
      this.#server.removeUnclaimed(this.id);
    });
  }

  async abandon(): Promise<void> {
    this.#abandoned = true;
  }

  async close(): Promise<void> {
    // Ignores a failure of this request, because the session ends after its TTL at the latest.
    await this.#call('close', () => this.#server.end(this.id)).catch(() => undefined);
  }

  #call<T>(call: MemoryCall, effect: () => T, signal?: AbortSignal): Promise<T> {
    if (this.#abandoned) {
      const why = `session ${this.id} was not ended here: it ends at its TTL unless another client resumes it`;
      return Promise.reject(new QueueLockError('CLOSED', why));
    }
    const asTenant = (): T => {
      this.#server.requireTenant(this.id, this.#tenancy);
      return effect();
    };
    return this.#link.call(call, asTenant, signal);
  }

  #placement(entry: Entry): Placement {
    const { order, key, turn } = entry;
    const otherLimit = this.#server.otherLimit(entry);
    return {
      order,
      token: order,
      key,
      turn,
      ...(otherLimit === undefined ? {} : { otherLimit }),
      turns$: this.#link.carry(this.#server.follow(entry)),
    } satisfies Placement;
  }
}

function requireUnremoved(unremoved: boolean, { id }: EntrySpec): void {
  if (!unremoved) throw new QueueLockError('ENTRY_LOST', `entry ${id} was removed before it arrived`);
}
