import { mutant, type Mutant } from '../mutant.ts';

export const HANDING_OVER: readonly Mutant[] = [
  mutant(
    'an entry that has handed over is removed although its successor is gone',
    ['exclusive'],
    ['etcd/src/entry/leaving.ts', 'compare: [createdAt(successor.key, successor.order)]', 'compare: []'],
  ),
  mutant(
    'an entry that has a mark or a single key hands over',
    ['exclusive', 'order', 'tokens'],
    ['etcd/src/turn/successors.ts', '!entry.followed || !isPlain(entry)', '!entry.owned'],
  ),
  mutant(
    'a grant gets a revision that the store never had',
    ['tokens'],
    ['etcd/src/turn/successors.ts', 'if (at > this.#connection.revision) return;', ''],
  ),
  mutant(
    'an entry whose key was read hands over',
    ['guarded'],
    ['etcd/src/turn/successors.ts', 'entry.isKeyExposed || ', ''],
  ),
  mutant(
    'a session hands over although a removal has had no response for long',
    ['taken'],
    ['etcd/src/turn/successors.ts', ' && !this.#isLate()', ''],
  ),
  mutant(
    'a late removal deletes an entry of the process that resumed the session',
    ['exclusive', 'order'],
    ['etcd/src/entry/leaving.ts', 'isPlain(entry) && !generation.isExported', 'isPlain(entry)'],
  ),
  mutant(
    'a removal is sent before the end of the tick although an entry of the session follows',
    ['exclusive'],
    ['etcd/src/session/entries.ts', '({ followed }: Entry) => !followed', '() => true'],
  ),
  mutant(
    'a grant gets the revision of the grant before it',
    ['tokens'],
    ['etcd/src/turn/successors.ts', 'entry.grantToken + 1n', 'entry.grantToken'],
  ),
];
