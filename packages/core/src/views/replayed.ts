import { admittedEntries } from '../turn/admitted.ts';
import { toEntry } from '../entry/entry-value.ts';
import { jsonable } from '../base/jsonable.ts';
import type { QueueEntry } from '../api/queue-api.ts';
import type { QueueChange, QueueHistory } from '../api/store-api.ts';
import type { PastChange, StoredHistory } from '../api/store-facts.ts';

/** Replays the changes of a queue to find when each entry was granted. */
export function replayed(name: string, { before, changes, gaps }: StoredHistory): QueueHistory {
  const entries = before.map(toEntry);
  const line = new Line(entries);
  return {
    name,
    before: entries,
    changes: steps(changes).flatMap((step) => line.apply(step)),
    gaps,
  };
}

/**
 * Groups the changes that the store made at one revision, because no client could read the queue between
 * them.
 */
function steps(changes: readonly PastChange[]): readonly (readonly PastChange[])[] {
  const grouped: PastChange[][] = [];
  for (const change of changes) {
    const last = grouped.at(-1);
    if (last?.[0]?.revision === change.revision) last.push(change);
    else grouped.push([change]);
  }
  return grouped;
}

class Line {
  readonly #entries: QueueEntry[];
  #holding: ReadonlySet<string>;

  constructor(entries: readonly QueueEntry[]) {
    this.#entries = [...entries];
    this.#holding = holding(entries);
  }

  apply(step: readonly PastChange[]): readonly QueueChange[] {
    const [{ revision } = { revision: 0n }] = step;
    const held = this.#holding;
    const reported = step.map(({ kind, entry }): QueueChange => {
      const change = toEntry(entry);
      this.#take(kind, change);
      return jsonable({ revision, kind, entry: change, held: held.has(change.key) });
    });
    // An entry that joins at the end of a long queue of exclusive entries changes no grant. So the grants are
    // not computed again.
    if (step.length === 1 && step[0]?.kind === 'joined' && this.#isCrowded()) return reported;
    this.#holding = holding(this.#entries);
    const granted = this.#entries
      .filter(({ key }) => this.#holding.has(key) && !held.has(key))
      .map((entry) => jsonable<QueueChange>({ revision, kind: 'granted', entry, held: true }));
    return [...reported, ...granted];
  }

  /** Returns whether the first two entries of the queue and its last entry are exclusive, so that the last entry has to wait. */
  #isCrowded(): boolean {
    const isPlain = ({ shared, limit }: QueueEntry): boolean => !shared && limit === 1;
    const [first, second] = this.#entries;
    const last = this.#entries.at(-1);
    if (!first || !second || !last || this.#entries.length < 3) return false;
    return [first, second, last].every(isPlain);
  }

  #take(kind: PastChange['kind'], entry: QueueEntry): void {
    const at = this.#entries.findLastIndex(({ key }) => key === entry.key);
    if (kind === 'left') this.#entries.splice(at, at < 0 ? 0 : 1);
    else if (at >= 0) this.#entries[at] = entry;
    else this.#entries.splice(1 + this.#entries.findLastIndex(({ order }) => order < entry.order), 0, entry);
  }
}

function holding(entries: readonly QueueEntry[]): ReadonlySet<string> {
  return new Set([...admittedEntries(entries)].map(({ key }) => key));
}
