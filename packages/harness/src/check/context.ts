import type { ChaosEvent } from './event.ts';
import { byStamp, forEachEvent } from './history.ts';
import type { Finding } from './finding.ts';

const EACH_SIDE = 5;
const MAX_FINDINGS = 25;

/**
 * Adds the nearest events, at most ten, to each of the first 25 violations of rules. It reads them from the
 * histories in the directory.
 */
export async function withEvents(directory: string, findings: readonly Finding[]): Promise<Finding[]> {
  const around = findings.slice(0, MAX_FINDINGS).map((finding) => new Around(finding));
  if (around.length > 0)
    await forEachEvent(directory, (event) => {
      const at = BigInt(event.t);
      for (const each of around) each.offer(event, at);
    });
  return findings.map((finding, i) => ({ ...finding, events: around[i]?.events ?? [] }));
}

interface Stamped {
  readonly event: ChaosEvent;
  readonly at: bigint;
}

/** Collects the events nearest in time to one violation. Events may be added in any order. */
class Around {
  readonly #finding: Finding;
  readonly #at: bigint;
  #before: Stamped[] = [];
  #after: Stamped[] = [];

  constructor(finding: Finding) {
    this.#finding = finding;
    this.#at = BigInt(finding.at);
  }

  offer(event: ChaosEvent, at: bigint): void {
    if (!explains(event, this.#finding)) return;
    // An event at the time of the violation counts as an earlier one. The list of earlier events and the list
    // of later ones both begin with the event nearest in time.
    if (at <= this.#at)
      this.#before = nearest([...this.#before, { event, at }], (a, b) => (a.at > b.at ? -1 : 1));
    else this.#after = nearest([...this.#after, { event, at }], (a, b) => (a.at < b.at ? -1 : 1));
  }

  get events(): ChaosEvent[] {
    return byStamp([...this.#before, ...this.#after].map(({ event }) => event));
  }
}

function nearest(events: Stamped[], order: (a: Stamped, b: Stamped) => number): Stamped[] {
  if (events.length <= EACH_SIDE) return events;
  return events.sort(order).slice(0, EACH_SIDE);
}

/**
 * Returns whether an event can explain a violation. Events of its queue, faults and ends of sessions can
 * explain it. A read of `held` can explain it only if it was recorded at the time of the violation.
 */
function explains(event: ChaosEvent, { queue, at }: Finding): boolean {
  if (event.ev === 'beat' || event.ev === 'memory') return false;
  if (event.ev === 'look' && event.t !== at) return false;
  if (!('queue' in event)) return true;
  return queue === undefined || event.queue === queue;
}
