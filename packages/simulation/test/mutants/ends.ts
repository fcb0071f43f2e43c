import { mutant, type Mutant } from '../mutant.ts';
import type { Rule } from '../../src/run/judge.ts';

const LEFT_OVER: readonly Rule[] = ['progress', 'nothing left'];

export const ENDS: readonly Mutant[] = [
  mutant('a removal without an answer counts as done', LEFT_OVER, [
    'core/src/entry/entry.ts',
    '      await this.#takeOutAfter(failure);\n',
    '      void failure;\n',
  ]),
  mutant('a removal that is refused leaves the entry', LEFT_OVER, [
    'core/src/entry/entry.ts',
    "      liveness.endByRefusal('the server refused to remove an entry', error);\n",
    '      void error;\n',
  ]),
  mutant('a closed session leaves its stream open', 'nothing left', [
    'etcd/src/session/keep-alive.ts',
    '    stream?.channel.close();\n',
    '',
  ]),
  mutant('whoever leaves is not taken out', LEFT_OVER, [
    'etcd/src/entry/leaving.ts',
    '    if (isPlain(entry) && !generation.isExported) return await removeInBatch(leaving, entry);\n',
    '    if (isPlain(entry)) return true;\n',
  ]),
  mutant('whoever wrote its label is not taken out', LEFT_OVER, [
    'etcd/src/entry/leaving.ts',
    'compare: [createdAt(key, order)], success: [...keys.map(remove), ...back], failure: back };',
    'compare: [createdAt(key, order + 1n)], success: [...keys.map(remove), ...back], failure: back };',
  ]),
  mutant('of those who leave together only the first goes', LEFT_OVER, [
    'etcd/src/entry/leaving.ts',
    'success: removals.map(',
    'success: removals.slice(0, 1).map(',
  ]),
  mutant('a fast entry that leaves as the last stays', LEFT_OVER, [
    'etcd/src/entry/tail.ts',
    'success: [remove(key), remove(tail)],',
    'success: [remove(tail)],',
  ]),
  mutant(
    'an evicted owner is removed, and those who wait ahead are not',
    ['no storm', 'progress', 'outcome', 'order'],
    [
      'core/src/handover/evictions.ts',
      'return taken + permits > own.limit;',
      'return taken + permits > own.limit + 1;',
    ],
  ),
  mutant(
    'whoever steals removes itself',
    ['progress', 'outcome', 'nothing left', 'no storm'],
    [
      'core/src/handover/evictions.ts',
      '({ order, shared }) => order < own.order',
      '({ order, shared }) => order <= own.order',
    ],
  ),
  mutant(
    'a record that has changed meanwhile is written all the same',
    ['progress', 'outcome', 'no storm'],
    [
      'etcd/src/views/registers.ts',
      'compare: [modifiedAt(key, BigInt(was ?? 0))],',
      'compare: [modifiedAt(key, BigInt(was ?? 0) + 1n)],',
    ],
  ),
];
