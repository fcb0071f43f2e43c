import type { QueueEntry, QueueState } from '@queuelock/core';
import { positionedEntries, type PositionedEntry } from './positioned-entries.ts';

/** A change of one entry between two states of a queue. */
export interface Happening {
  readonly ev: 'present' | 'joined' | 'granted' | 'changed' | 'left';
  readonly entry: QueueEntry;
  /**
   * Position of the entry: 0 if it is admitted, 1 if it is the first waiter. For the event `left`: the
   * position before the entry left.
   */
  readonly position: number;
  /** Whether the entry is admitted. For the event `left`: whether it was admitted before it left. */
  readonly holds: boolean;
}

/**
 * Compares two states of a queue (`before` is `undefined` for the first). Returns the departures, joins,
 * grants and changed details. An entry that joined and left between the two states is missed.
 */
export function happenings(before: QueueState | undefined, now: QueueState): readonly Happening[] {
  const places = positionedEntries(now);
  if (!before) return places.map((place) => happening('present', place));
  const known = byKey(positionedEntries(before));
  const present = byKey(places);
  const left = [...known.values()]
    .filter((place) => !present.has(idOf(place)))
    .map((place) => happening('left', place));
  const changes = places.flatMap((place): readonly Happening[] => {
    const was = known.get(idOf(place));
    return [
      ...(was ? [] : [happening('joined', place)]),
      ...(place.holds && !was?.holds ? [happening('granted', place)] : []),
      ...(was && was.entry.value !== place.entry.value ? [happening('changed', place)] : []),
    ];
  });
  return [...left, ...changes];
}

function happening(ev: Happening['ev'], { entry, position, holds }: PositionedEntry): Happening {
  return { ev, entry, position, holds };
}

function byKey(places: readonly PositionedEntry[]): ReadonlyMap<string, PositionedEntry> {
  return new Map(places.map((place) => [idOf(place), place]));
}

/**
 * Returns a text that identifies an entry in its queue. It includes the order number, because a key may be
 * used again after its entry was removed.
 */
function idOf({ entry }: PositionedEntry): string {
  return `${String(entry.order)} ${entry.key}`;
}
