import { mutant, type Mutant } from '../mutant.ts';
import type { Rule } from '../../src/run/rule.ts';

const LEFT_OVER: readonly Rule[] = [
  'progress',
  'nothing left',
  'outcome',
  'order',
  'tokens',
  'exclusive',
  'no storm',
];

export const ENTERING: readonly Mutant[] = [
  mutant('a repeated enqueue creates the entry again', LEFT_OVER, [
    'etcd/src/entry/enqueue.ts',
    'return [...newcomers.map(({ entry }) => absent(entry.sought)), sameGeneration(ticket)];',
    'return [sameGeneration(ticket)];',
  ]),
  mutant('an uncertain removal does not refuse late enqueues', LEFT_OVER, [
    'etcd/src/entry/generation.ts',
    'failure: [...first, this.#put()] };',
    'failure: [...first] };',
  ]),
  mutant(
    'a try enqueues although the queue is not empty',
    ['order', 'exclusive'],
    [
      'etcd/src/entry/enqueue.ts',
      '      ...newcomers.map(({ entry }) => absent(rangeUnder(entry.under))),\n',
      '',
    ],
  ),
  mutant(
    'a write to an entry detaches its key from the lease',
    ['progress', 'nothing left'],
    [
      'etcd/src/queue/txn.ts',
      'value: Buffer.from(value), ignore_lease: true }',
      'value: Buffer.from(value) }',
    ],
  ),
  mutant(
    'an entry is attached to no lease',
    ['progress', 'nothing left'],
    [
      'etcd/src/entry/enqueue.ts',
      "return put(entry.key, spec.value ?? '', lease);",
      "return put(entry.key, spec.value ?? '', lease && '0');",
    ],
  ),
  mutant(
    'a finished request still counts as one in flight',
    ['progress', 'nothing left'],
    ['etcd/src/base/batcher.ts', '    this.#batchesInFlight -= 1;\n', ''],
  ),
  mutant(
    'a change is compared with another life of the key',
    ['progress', 'no storm'],
    [
      'etcd/src/entry/changing.ts',
      'const compare = [createdAt(key, order), modifiedBy',
      'const compare = [createdAt(key, order + 1n), modifiedBy',
    ],
  ),
  mutant('several names are enqueued one after the other', 'progress', [
    'etcd/src/session/entries.ts',
    'return enter(this.#context, newcomers, enqueueAlways);',
    'const all = []; for (const one of newcomers) all.push(...(await enter(this.#context, [one], enqueueAlways))); return all;',
  ]),
  mutant(
    'every entry of a batch gets the entries ahead of its first entry',
    ['no storm', 'order', 'exclusive'],
    [
      'etcd/src/entry/enqueue.ts',
      'const latest = known(ranges[newcomers.length + i]);',
      'const latest = known(ranges[newcomers.length]);',
    ],
  ),
];
