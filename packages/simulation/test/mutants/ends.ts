import { mutant, type Mutant } from '../mutant.ts';
import type { Rule } from '../../src/run/rule.ts';

const LEFT_OVER: readonly Rule[] = ['progress', 'nothing left'];

export const ENDS: readonly Mutant[] = [
  mutant('a removal without a response counts as done', LEFT_OVER, [
    'core/src/entry/entry.ts',
    '      await this.#takeOutAfter(failure);\n',
    '      void failure;\n',
  ]),
  mutant('a refused removal leaves the entry', LEFT_OVER, [
    'core/src/entry/entry.ts',
    "      liveness.endByRefusal('the server refused to remove an entry', error);\n",
    '      void error;\n',
  ]),
  mutant('the close of a session leaves its stream open', 'nothing left', [
    'etcd/src/session/keep-alive.ts',
    '    stream?.channel.close();\n',
    '',
  ]),
  mutant('a released entry is not removed', LEFT_OVER, [
    'etcd/src/entry/leaving.ts',
    '    if (isPlain(entry) && !generation.isExported) return await removeInBatch(leaving, entry);\n',
    '    if (isPlain(entry)) return true;\n',
  ]),
  mutant('an entry whose label was written is not removed', LEFT_OVER, [
    'etcd/src/entry/leaving.ts',
    'compare: [createdAt(key, order)], success: [...keys.map(remove), ...back], failure: back };',
    'compare: [createdAt(key, order + 1n)], success: [...keys.map(remove), ...back], failure: back };',
  ]),
  mutant('a batch of removals removes only its first entry', LEFT_OVER, [
    'etcd/src/entry/leaving.ts',
    'success: removals.map(',
    'success: removals.slice(0, 1).map(',
  ]),
  mutant('the removal of the last fast entry deletes only the tail', LEFT_OVER, [
    'etcd/src/entry/tail.ts',
    'success: [remove(key), remove(tail)],',
    'success: [remove(tail)],',
  ]),
  mutant(
    'a steal removes the holder but not the waiters ahead',
    ['no storm', 'progress', 'outcome', 'order'],
    [
      'core/src/handover/evictions.ts',
      'return taken + permits > own.limit;',
      'return taken + permits > own.limit + 1;',
    ],
  ),
  mutant(
    'a steal removes the own entry',
    ['progress', 'outcome', 'nothing left', 'no storm'],
    [
      'core/src/handover/evictions.ts',
      '({ order, shared }) => order < own.order',
      '({ order, shared }) => order <= own.order',
    ],
  ),
  mutant(
    'a changed register is overwritten',
    ['progress', 'outcome', 'no storm'],
    [
      'etcd/src/views/registers.ts',
      'compare: [modifiedAt(key, BigInt(was ?? 0))],',
      'compare: [modifiedAt(key, BigInt(was ?? 0) + 1n)],',
    ],
  ),
];
