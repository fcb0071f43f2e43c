import { mutant, type Mutant } from '../mutant.ts';

export const SINGLE_KEYS: readonly Mutant[] = [
  mutant('a single key is taken from whoever has it', 'exclusive', [
    'etcd/src/entry/single-key.ts',
    ': absent({ key: single });',
    ': createdAt(one.entry.key, one.order);',
  ]),
  mutant('a turn in the line is enough where there is a single key', 'exclusive', [
    'etcd/src/turn/single-hold.ts',
    'return held ? { ...turn, grantToken: revision } : { admitted: false };',
    'return held ? { ...turn, grantToken: revision } : turn;',
  ]),
  mutant(
    'a single key is not given back',
    ['progress', 'nothing left'],
    [
      'etcd/src/entry/leaving.ts',
      'return [...(claimed ? deleteSingleKey(single, key) : []), ...deleteSingleKey(tail, key)];',
      'return deleteSingleKey(tail, claimed ? key : key);',
    ],
  ),
  mutant(
    'a single key is on no lease',
    ['progress', 'nothing left'],
    [
      'etcd/src/entry/single-key.ts',
      '.map(({ entry, single }) => put(single, entry.key.toString(), lease)),',
      ".map(({ entry, single }) => put(single, entry.key.toString(), lease && '0')),",
    ],
  ),
];
