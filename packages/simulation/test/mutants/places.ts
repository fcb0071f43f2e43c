import { mutant, type Mutant } from '../mutant.ts';
import type { Rule } from '../../src/run/judge.ts';

const TOO_EARLY: readonly Rule[] = ['order', 'exclusive'];

export const PLACES: readonly Mutant[] = [
  mutant('whoever was ahead counts as an owner when it goes', TOO_EARLY, [
    'etcd/src/turn/watch-removal.ts',
    'owned: hasAnnounced || entry.owned',
    'owned: true',
  ]),
  mutant('whoever leaves counts as an owner in its own process', TOO_EARLY, [
    'etcd/src/turn/owning.ts',
    'return owned && !mark && !single;',
    'return !mark && !single;',
  ]),
  mutant('permits ahead count as one each', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= 1) < 0',
  ]),
  mutant(
    'the names of entries tell of one permit each',
    [...TOO_EARLY, 'outcome'],
    ['etcd/src/queue/keys.ts', '    permits: Number(permits),', '    permits: Math.min(1, Number(permits)),'],
  ),
  mutant('own permits count as one', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'let left = limit - permits;',
    'let left = limit - Math.min(1, permits);',
  ]),
  mutant('one more than the limit is let in', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= ref.permits ?? 1) < -1',
  ]),
  mutant('a writer does not wait for readers', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'other.shared || marked.has(other.name)',
  ]),
  mutant('a reader waits for nobody', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'own.shared',
  ]),
  mutant('a name that is not ours counts for nothing', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    'if (!other || (own.shared',
    'if (!other || !other.ours || (own.shared',
  ]),
  mutant('a name of the fast kind counts for nothing', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    'if (!other || (own.shared',
    "if (!other || other.name.startsWith('~') || (own.shared",
  ]),
  mutant('whoever goes takes all others along', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'refs.filter((other) => other !== ref)',
    'refs.filter((other) => other === undefined)',
  ]),
  mutant(
    'two of a queue may enter at one point',
    ['tokens', 'order', 'exclusive', 'outcome', 'progress'],
    [
      'etcd/src/session/entries.ts',
      'kindOf: ({ spec }: Newcomer) => spec.queue,',
      'kindOf: ({ spec }: Newcomer) => spec.id,',
    ],
  ),
  mutant(
    'a tail tells who is ahead whoever else is in line',
    TOO_EARLY,
    ['etcd/src/entry/tail.ts', 'const LISTED = 20;', 'const LISTED = 0;'],
    [
      'etcd/src/entry/tail.ts',
      'compare: [isLong, ...rangesBesideFast(entry.under, entry.fast).map(absent)],',
      'compare: [isLong],',
    ],
  ),
  mutant(
    'those behind count as ahead',
    ['outcome', 'progress'],
    [
      'etcd/src/turn/turns.ts',
      'max_create_revision: order.toString(), ...',
      'max_create_revision: (order + 1_000n).toString(), ...',
    ],
  ),
  mutant(
    'the oldest are taken for the nearest',
    ['outcome', 'order', 'exclusive', 'no storm'],
    ['etcd/src/queue/txn.ts', "sort_order: 'Descend'", "sort_order: 'Ascend'"],
  ),
  mutant('of those in the way the last counts for nothing', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'return nearestFirst.slice(0, last + 1);',
    'return nearestFirst.slice(0, Math.max(0, last));',
  ]),
];
