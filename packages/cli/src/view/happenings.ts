import type { QueueEntry, QueueState } from '@queuelock/core';
import { placesOf, type Place } from './places.ts';

/** What happened in a queue between two looks. */
export interface Happening {
  readonly ev: 'present' | 'joined' | 'granted' | 'changed' | 'left';
  readonly entry: QueueEntry;
  /** Entries ahead; before it left, with `left`. */
  readonly position: number;
  /** Whether its turn had come: before it left, with `left`. */
  readonly holds: boolean;
}

/**
 * From the queue as it was (`undefined`: not seen before) to the queue as it is: who left, who joined, whose turn came, who tells
 * something else about itself. What happened in between and was over again is not in it.
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

/** A key may be used again after it was removed; not with the same order. */
function idOf({ entry }: Place): string {
  return `${String(entry.order)} ${entry.key}`;
}
