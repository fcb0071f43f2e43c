import type { EntrySpec, HoldTraces, Placement, Session } from '@queuelock/core/backend';
import type { Link } from './link.ts';
import type { Entry } from './queue.ts';
import type { Server } from './server.ts';
import { UnderWay } from './under-way.ts';

/** A session of `server` as a client holds it, at the other end of `link`. */
export class MemorySession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  readonly traces: HoldTraces;
  readonly #server: Server;
  readonly #link: Link;
  readonly #underWay = new UnderWay();

  constructor(server: Server, link: Link, ttlMs: number) {
    this.id = server.open(ttlMs);
    this.ttlMs = ttlMs;
    this.#server = server;
    this.#link = link;
    this.traces = {
      leave: (queue, id) => link.call('leaveTrace', () => server.leaveTrace(this.id, { queue, id })),
      erase: (queue, ids) => link.call('eraseTraces', () => server.eraseTraces(this.id, queue, ids)),
    };
  }

  renew(signal: AbortSignal): Promise<number> {
    return this.#link.call('renew', () => this.#server.renew(this.id), signal);
  }

  enqueue(spec: EntrySpec): Promise<Placement> {
    const arrive = this.#underWay.send(spec.id);
    return this.#link.call('enqueue', () => {
      arrive();
      return this.#placement(this.#server.enqueue(this.id, spec));
    });
  }

  tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const arrive = this.#underWay.send(spec.id);
    return this.#link.call('tryEnqueue', () => {
      arrive();
      const entry = this.#server.tryEnqueue(this.id, spec);
      return entry && this.#placement(entry);
    });
  }

  update(queue: string, id: string, value: string): Promise<boolean> {
    return this.#link.call('update', () => this.#server.update(this.id, { queue, id }, value));
  }

  remove(queue: string, id: string): Promise<boolean> {
    return this.#link.call('remove', () => {
      this.#underWay.refuse(id);
      return this.#server.remove(queue, id);
    });
  }

  async close(): Promise<void> {
    // Whatever went wrong on the way, the TTL does the rest.
    await this.#link.call('close', () => this.#server.end(this.id)).catch(() => undefined);
  }

  #placement(entry: Entry): Placement {
    const { order, key, turn } = entry;
    return {
      order,
      token: order,
      key,
      turn,
      turns$: this.#link.carry(this.#server.follow(entry)),
    } satisfies Placement;
  }
}
