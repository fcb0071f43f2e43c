import { ours, type Kind } from './kinds.ts';
import type { Line, Mix } from './row.ts';

const PARTICIPANTS = 6;

export const each = (...all: readonly Kind[]): Mix['parties'] => all.map((kind) => ({ kind, count: 1 }));
export const twice = (...all: readonly Kind[]): Mix['parties'] => all.map((kind) => ({ kind, count: 2 }));
/** Returns a pair of a holder and a waiter for each kind of participant. Both are of that kind. */
export const alike = (...all: readonly Kind[]): Line['pairs'] =>
  all.map((kind) => ({ holder: kind, waiter: kind }));

/** Returns a combination of one participant of the given kind and five participants that use queuelock. */
export const amongOurs = (kind: Kind): Mix => ({
  title: `five queuelock clients and one of another kind: ${kind.title}`,
  parties: [{ kind: ours, count: PARTICIPANTS - 1 }, ...each(kind)],
});
