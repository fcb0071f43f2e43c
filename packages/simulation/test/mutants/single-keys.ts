import { mutant, type Mutant } from '../mutant.ts';

export const SINGLE_KEYS: readonly Mutant[] = [
  mutant('a single key is taken from another client', 'exclusive', [
    'etcd/src/entry/single-key.ts',
    ': absent({ key: single });',
    ': createdAt(one.entry.key, one.order);',
  ]),
  mutant('an entry holds without its single key', 'exclusive', [
    'etcd/src/turn/single-hold.ts',
    'return held ? { ...turn, grantToken: revision } : { admitted: false };',
    'return held ? { ...turn, grantToken: revision } : turn;',
  ]),
  mutant(
    'a single key is not released',
    ['progress', 'nothing left'],
    [
      'etcd/src/entry/leaving.ts',
      'return [...(claimed ? deleteSingleKey(single, key) : []), ...deleteSingleKey(tail, key)];',
      'return deleteSingleKey(tail, claimed ? key : key);',
    ],
  ),
  mutant(
    'a single key is attached to no lease',
    ['progress', 'nothing left'],
    [
      'etcd/src/entry/single-key.ts',
      '.map(({ entry, single }) => put(single, entry.key.toString(), lease)),',
      ".map(({ entry, single }) => put(single, entry.key.toString(), lease && '0')),",
    ],
  ),
];
