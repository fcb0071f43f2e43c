import type { QueueEntry, QueueState } from '@queuelock/core';
import { placesOf, type Place } from './places.ts';

/** An event in a queue between two states. */
export interface Happening {
  readonly ev: 'present' | 'joined' | 'granted' | 'changed' | 'left';
  readonly entry: QueueEntry;
  /** Number of entries ahead; with `left`, before it left. */
  readonly position: number;
  /** Whether it was admitted; with `left`, before it left. */
  readonly holds: boolean;
}

/**
 * Compares two states of a queue (`before` is `undefined` for the first). Returns the departures, joins, grants and changed
 * details. It misses an entry that came and went in between.
 */
export function happenings(before: QueueState | undefined, now: QueueState): readonly Happening[] {
  const places = placesOf(now);
  if (!before) return places.map((place) => told('present', place));
  const known = byKey(placesOf(before));
  const present = byKey(places);
  const left = [...known.values()]
    .filter((place) => !present.has(idOf(place)))
    .map((place) => told('left', place));
  const others = places.flatMap((place): readonly Happening[] => {
    const was = known.get(idOf(place));
    return [
      ...(was ? [] : [told('joined', place)]),
      ...(place.holds && !was?.holds ? [told('granted', place)] : []),
      ...(was && was.entry.value !== place.entry.value ? [told('changed', place)] : []),
    ];
  });
  return [...left, ...others];
}

function told(ev: Happening['ev'], { entry, position, holds }: Place): Happening {
  return { ev, entry, position, holds };
}

function byKey(places: readonly Place[]): ReadonlyMap<string, Place> {
  return new Map(places.map((place) => [idOf(place), place]));
}

/** Includes the order, because a key may be used again after it was removed. */
function idOf({ entry }: Place): string {
  return `${String(entry.order)} ${entry.key}`;
}
