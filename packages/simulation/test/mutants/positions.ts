import { mutant, type Mutant } from '../mutant.ts';
import type { Rule } from '../../src/run/rule.ts';

const TOO_EARLY: readonly Rule[] = ['order', 'exclusive'];

export const POSITIONS: readonly Mutant[] = [
  mutant('a removed predecessor always counts as an owner', TOO_EARLY, [
    'etcd/src/turn/conflict-end.ts',
    'owned: this.#hasAnnounced || owned',
    'owned: true',
  ]),
  mutant('a released entry always counts as an owner in its process', TOO_EARLY, [
    'etcd/src/turn/owning.ts',
    'return owned && !mark && !single;',
    'return !mark && !single;',
  ]),
  mutant('entries ahead count as one permit each', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= 1) < 0',
  ]),
  mutant(
    'the names of entries always contain one permit',
    [...TOO_EARLY, 'outcome'],
    ['etcd/src/queue/keys.ts', '    permits: Number(permits),', '    permits: Math.min(1, Number(permits)),'],
  ),
  mutant('the own permits count as a single permit', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'let left = limit - permits;',
    'let left = limit - Math.min(1, permits);',
  ]),
  mutant('one more entry than the limit is admitted', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= ref.permits ?? 1) < -1',
  ]),
  mutant('a writer does not wait for readers', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'other.shared || marked.has(other.name)',
  ]),
  mutant('a reader does not wait for writers', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'own.shared',
  ]),
  mutant('entries with foreign names are ignored', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    'if (!other || (own.shared',
    'if (!other || !other.ours || (own.shared',
  ]),
  mutant('entries with fast names are ignored', TOO_EARLY, [
    'etcd/src/queue/ahead.ts',
    'if (!other || (own.shared',
    "if (!other || other.name.startsWith('~') || (own.shared",
  ]),
  mutant('a removal removes all other entries too', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'refs.filter((other) => other !== ref)',
    'refs.filter((other) => other === undefined)',
  ]),
  mutant(
    'two entries of one queue may have the same order',
    ['tokens', 'order', 'exclusive', 'outcome', 'progress'],
    [
      'etcd/src/session/entries.ts',
      'kindOf: ({ spec }: Newcomer) => spec.queue,',
      'kindOf: ({ spec }: Newcomer) => spec.id,',
    ],
  ),
  mutant(
    'a tail is trusted although the queue has other entries',
    TOO_EARLY,
    ['etcd/src/entry/tail.ts', 'const LISTED = 20;', 'const LISTED = 0;'],
    [
      'etcd/src/entry/tail.ts',
      'compare: [isLong, ...rangesBesideFast(entry.under, entry.fast).map(absent)],',
      'compare: [isLong],',
    ],
  ),
  mutant(
    'entries behind count as ahead',
    ['outcome', 'progress'],
    [
      'etcd/src/turn/turns.ts',
      'max_create_revision: order.toString(), ...',
      'max_create_revision: (order + 1_000n).toString(), ...',
    ],
  ),
  mutant(
    'the oldest entries count as the nearest predecessors',
    ['outcome', 'order', 'exclusive', 'no storm'],
    ['etcd/src/queue/txn.ts', "sort_order: 'Descend'", "sort_order: 'Ascend'"],
  ),
  mutant('the last conflicting entry is ignored', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'return nearestFirst.slice(0, last + 1);',
    'return nearestFirst.slice(0, Math.max(0, last));',
  ]),
];
