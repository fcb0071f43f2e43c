import { mistake, type Mistake } from '../mistake.ts';
import type { Rule } from '../../src/run/judge.ts';

const TOO_EARLY: readonly Rule[] = ['order', 'exclusive'];

export const PLACES: readonly Mistake[] = [
  mistake('whoever was ahead counts as an owner when it goes', TOO_EARLY, [
    'etcd/src/turn/gone.ts',
    'owned: toldOwned || entry.owned',
    'owned: true',
  ]),
  mistake('whoever leaves counts as an owner in its own process', TOO_EARLY, [
    'etcd/src/turn/owning.ts',
    'return owned && !mark && !single;',
    'return !mark && !single;',
  ]),
  mistake('permits ahead count as one each', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= 1) < 0',
  ]),
  mistake(
    'the names of entries tell of one permit each',
    [...TOO_EARLY, 'outcome'],
    ['etcd/src/queue/keys.ts', '    permits: Number(permits),', '    permits: Math.min(1, Number(permits)),'],
  ),
  mistake('own permits count as one', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'let left = limit - permits;',
    'let left = limit - Math.min(1, permits);',
  ]),
  mistake('one more than the limit is let in', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= ref.permits ?? 1) < -1',
  ]),
  mistake('a writer does not wait for readers', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'other.shared || marked.has(other.name)',
  ]),
  mistake('a reader waits for nobody', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'own.shared',
  ]),
  mistake('a name that is not ours counts for nothing', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    'if (!other || (own.shared',
    'if (!other || !other.ours || (own.shared',
  ]),
  mistake('a name of the fast kind counts for nothing', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    'if (!other || (own.shared',
    "if (!other || other.name.startsWith('~') || (own.shared",
  ]),
  mistake('whoever goes takes all others along', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'refs.filter((other) => other !== ref)',
    'refs.filter((other) => other === undefined)',
  ]),
  mistake(
    'two of a queue may enter at one point',
    ['tokens', 'order', 'exclusive', 'outcome', 'progress'],
    [
      'etcd/src/session/entries.ts',
      'kindOf: ({ spec }: Newcomer) => spec.queue,',
      'kindOf: ({ spec }: Newcomer) => spec.id,',
    ],
  ),
  mistake(
    'a tail tells who is ahead whoever else is in line',
    TOO_EARLY,
    ['etcd/src/entry/tail.ts', 'const LISTED = 20;', 'const LISTED = 0;'],
    [
      'etcd/src/entry/tail.ts',
      'compare: [isLong, ...rangesBesideFast(entry.under, entry.fast).map(absent)],',
      'compare: [isLong],',
    ],
  ),
  mistake(
    'those behind count as ahead',
    ['outcome', 'progress'],
    [
      'etcd/src/turn/turns.ts',
      'max_create_revision: order.toString(), ...',
      'max_create_revision: (order + 1_000n).toString(), ...',
    ],
  ),
  mistake(
    'the oldest are taken for the nearest',
    ['outcome', 'order', 'exclusive', 'no storm'],
    ['etcd/src/queue/txn.ts', "sort_order: 'Descend'", "sort_order: 'Ascend'"],
  ),
  mistake('of those in the way the last counts for nothing', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'return nearestFirst.slice(0, last + 1);',
    'return nearestFirst.slice(0, Math.max(0, last));',
  ]),
];
