import type { Hold } from './hold.ts';
import type { World } from './world.ts';

// Shortest accepted delay as a share of the configured one, since the clock of the waiting client may run fast.
const SHORTEST_WAIT = 0.98;
const GRACE_MS = 2;

/** Checks the order of the holders: as the server granted them, and as the holders themselves see it. */
export class Succession {
  readonly #world: Pick<World, 'judge' | 'ledger' | 'server' | 'timeline'>;
  readonly #admitted = new Set<string>();
  readonly #latest = new Map<string, Hold>();
  readonly #holds: Hold[] = [];
  /** The time at which the entry of a hold was removed without a release. */
  readonly #uncleanEnds = new Map<Hold, number>();
  /** The delay that all clients keep after a hold that ended without a release. */
  delayMs = 0;

  constructor(world: Pick<World, 'judge' | 'ledger' | 'server' | 'timeline'>) {
    this.#world = world;
  }

  granted(hold: Hold): void {
    const { judge, ledger, server } = this.#world;
    this.#afterUncleanEnd(hold);
    this.#holds.push(hold);
    // The hold ended before its client knew that it had started. The next claim may be waiting since then.
    if (!this.#isThere(hold)) this.#uncleanEnds.set(hold, -Infinity);
    // The notification of an operator's removal may still be in flight.
    if (ledger.wasRemoved(hold.key)) return;
    this.#exclude(hold.name);
    const before = this.#latest.get(hold.name);
    this.#latest.set(hold.name, hold);
    const first = server.queues().get(hold.name)?.[0];
    judge.require('tokens', !before || before.token < hold.token, () => `${hold.label} has an old token`);
    judge.require('order', !before || before.order < hold.order, () => `${hold.label} comes too late`);
    judge.require('order', first?.key === hold.key, () => `${hold.label} is granted, first is ${first?.key}`);
  }

  /** Runs after an event: records which entries left by it, and which were admitted. */
  acted(): void {
    for (const hold of this.#holds) {
      if (hold.gaveUp || this.#uncleanEnds.has(hold) || this.#isThere(hold)) continue;
      this.#uncleanEnds.set(hold, this.#world.timeline.now());
    }
    for (const [name, entries] of this.#world.server.queues()) {
      for (const { key, admitted } of entries) {
        if (!admitted || this.#admitted.has(key)) continue;
        this.#admitted.add(key);
        for (const hold of this.#holds)
          if (hold.name === name && hold.key !== key) this.#mustBeOver(hold, key);
      }
    }
  }

  /** Runs between two events: each holder that reads continuously reads its hold. */
  settled(): void {
    // Only open holds are read: such a read may end the hold, and a read of an ended hold changes nothing.
    for (const hold of this.#holds) {
      if (hold.reads || !hold.open) hold.read();
      else hold.mustHaveBeenNotified();
    }
    for (const name of ['a', 'b']) this.#exclude(name);
  }

  /** Runs when all notifications have arrived: each open hold must have its entry. */
  haveLearned(): void {
    const { judge } = this.#world;
    for (const hold of this.#holds.filter(({ open }) => open)) {
      const learned = this.#isThere(hold) || !hold.read();
      judge.require('learns', learned, () => `${hold.label} believes and has no entry`);
    }
  }

  #isThere({ name, key }: Hold): boolean {
    const entries = this.#world.server.queues().get(name) ?? [];
    return entries.some((entry) => entry.key === key);
  }

  #afterUncleanEnd(hold: Hold): void {
    const { judge, timeline } = this.#world;
    const before = this.#holds.findLast(({ name }) => name === hold.name);
    const ended = before && this.#uncleanEnds.get(before);
    if (ended === undefined) return;
    const waitedMs = timeline.now() - ended;
    const min = this.delayMs * SHORTEST_WAIT - GRACE_MS;
    judge.require(
      'handover',
      waitedMs >= min,
      () => `${hold.label} begins ${waitedMs} ms after ${before?.label}`,
    );
  }

  #mustBeOver(hold: Hold, next: string): void {
    const { judge, ledger } = this.#world;
    if (!hold.open || ledger.wasRemoved(hold.key)) return;
    const { believes } = hold;
    judge.require('ends first', !believes, () => `${hold.label} believes while ${next} is admitted`);
    const late = hold.actor.machine.late;
    judge.require('told in time', believes || late, () => `${hold.label} was not told before ${next}`);
  }

  #exclude(name: string): void {
    const { judge, ledger } = this.#world;
    const open = this.#holds.filter(
      (hold) => hold.open && hold.name === name && !ledger.wasRemoved(hold.key),
    );
    if (open.length < 2) return;
    const believers = open.filter((hold) => hold.believes).map(({ label }) => label);
    judge.require('exclusive', believers.length < 2, () => believers.join(' and '));
  }
}
