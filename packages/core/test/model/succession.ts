import type { Hold } from './hold.ts';
import type { World } from './world.ts';

// Minimum fraction of the option `lockDelayMs` that a claim must have waited, in virtual time. It is less
// than 1, because the clock of the waiting client may run up to 2 % fast.
const SHORTEST_WAIT = 0.98;
const GRACE_MS = 2;

/** Checks the order of successive holds, by the server's grants and by what the holders believe. */
export class Succession {
  readonly #world: Pick<World, 'judge' | 'ledger' | 'server' | 'timeline'>;
  readonly #admitted = new Set<string>();
  readonly #latest = new Map<string, Hold>();
  readonly #holds: Hold[] = [];
  /** For each hold that ended without a release, the time at which the server removed its entry. */
  readonly #uncleanEnds = new Map<Hold, number>();
  /**
   * The option `lockDelayMs` of all clients: how long a claim waits after a hold that ended without a
   * release.
   */
  delayMs = 0;

  constructor(world: Pick<World, 'judge' | 'ledger' | 'server' | 'timeline'>) {
    this.#world = world;
  }

  granted(hold: Hold): void {
    const { judge, ledger, server } = this.#world;
    this.#afterUncleanEnd(hold);
    this.#holds.push(hold);
    // If the entry of the granted hold no longer exists, the time of its removal is unknown. The value
    // `-Infinity` for that time lets the next holder start after any wait, so the lock delay is not checked.
    if (!this.#isThere(hold)) this.#uncleanEnds.set(hold, -Infinity);
    // Checks no rules if an operator removed the entry of this hold or ended its session. They do not apply
    // to such a hold until its holder is notified.
    if (ledger.wasRemoved(hold.key)) return;
    this.#exclude(hold.name);
    const before = this.#latest.get(hold.name);
    this.#latest.set(hold.name, hold);
    const first = server.queues().get(hold.name)?.[0];
    judge.require('tokens', !before || before.token < hold.token, () => `${hold.label} has an old token`);
    judge.require('order', !before || before.order < hold.order, () => `${hold.label} comes too late`);
    judge.require('order', first?.key === hold.key, () => `${hold.label} is granted, first is ${first?.key}`);
  }

  /**
   * Runs after each event of a history. Records which entries of holders were removed. Checks each newly
   * admitted entry against the earlier holds.
   */
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

  /**
   * Runs between two events of a history. Reads `held` of each hold whose client reads it after every event.
   * Checks that every other client was notified when its proven time ended.
   */
  settled(): void {
    // Does not read `held` of an open hold whose client depends on notifications, because the read itself may
    // end the hold.
    for (const hold of this.#holds) {
      if (hold.reads || !hold.open) hold.read();
      else hold.mustHaveBeenNotified();
    }
    for (const name of ['a', 'b']) this.#exclude(name);
  }

  /**
   * Runs after the faults, when all notifications have arrived. Checks that every client that believes it
   * holds a lock still has an entry for that lock.
   */
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
