import type { MemoryServer } from '@queuelock/memory';
import type { Ownership } from '../../src/index.ts';

interface Belief {
  readonly who: string;
  readonly ownership: Ownership;
}

/**
 * Checks the holds that clients believe they have: no two of them may conflict, and each must match an entry
 * on the server.
 */
export class Witness {
  readonly faults: string[] = [];
  readonly #server: MemoryServer;
  readonly #beliefs = new Set<Belief>();
  readonly #grants: Belief[] = [];
  /**
   * The keys of entries that an operator removed. The holder of such an entry learns of the removal only when
   * the store's notification arrives.
   */
  readonly #taken = new Set<string>();

  constructor(server: MemoryServer) {
    this.#server = server;
  }

  /** Records that an operator removed the entry. */
  taken(key: string): void {
    this.#taken.add(key);
  }

  granted(who: string, ownerships: readonly Ownership[]): void {
    for (const ownership of ownerships) {
      if (!ownership.held) this.faults.push(`${who} is granted ${ownership.key}, and it is not held`);
      this.#requireOrder(who, ownership);
      const belief = { who, ownership };
      this.#beliefs.add(belief);
      if (!this.#taken.has(ownership.key)) this.#grants.push(belief);
    }
    this.check();
  }

  /** Checks that no two clients hold one name at once. Holds whose entry an operator removed are ignored. */
  check(): void {
    const believed = [...this.#beliefs].filter(({ ownership }) => this.#counts(ownership));
    for (const [at, one] of believed.entries())
      for (const other of believed.slice(at + 1))
        if (conflict(one.ownership, other.ownership))
          this.faults.push(`${one.who} and ${other.who} both hold ${one.ownership.name}`);
  }

  /** Checks for every two conflicting grants that the later grant has the greater token. */
  finish(): void {
    for (const [at, earlier] of this.#grants.entries())
      for (const later of this.#grants.slice(at + 1))
        if (conflict(earlier.ownership, later.ownership) && later.ownership.token <= earlier.ownership.token)
          this.faults.push(
            `${later.who} has an older token of ${later.ownership.name} than ${earlier.who} had`,
          );
  }

  #counts(ownership: Ownership): boolean {
    return !this.#taken.has(ownership.key) && ownership.held;
  }

  #requireOrder(who: string, ownership: Ownership): void {
    if (this.#taken.has(ownership.key)) return;
    const line = this.#server.queues().get(ownership.name) ?? [];
    const own = line.find(({ key }) => key === ownership.key);
    if (!own) {
      this.faults.push(`${who} is granted ${ownership.key}, which is not in the queue`);
      return;
    }
    const ahead = line.filter(({ order, shared }) => order < own.order && !(shared && own.shared));
    if (ahead.length > 0) this.faults.push(`${who} is granted ${ownership.key} behind ${ahead[0]!.key}`);
  }
}

function conflict(a: Ownership, b: Ownership): boolean {
  return a.name === b.name && a.key !== b.key && !(a.shared && b.shared);
}
