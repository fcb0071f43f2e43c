import { mistake, type Mistake } from '../mistake.ts';

export const HANDING_OVER: readonly Mistake[] = [
  mistake(
    'whoever has handed over is taken out also where its heir is gone',
    ['exclusive'],
    ['etcd/src/entry/leaving.ts', 'compare: [createdAt(heir.key, heir.order)]', 'compare: []'],
  ),
  mistake(
    'an entry that has a mark or a single key hands over',
    ['exclusive', 'order', 'tokens'],
    ['etcd/src/turn/heirs.ts', '!entry.followed || !isPlain(entry)', '!entry.owned'],
  ),
  mistake(
    'a grant is told a revision that the store has not had',
    ['tokens'],
    ['etcd/src/turn/heirs.ts', 'if (at > this.#connection.revision) return;', ''],
  ),
  mistake(
    'an entry whose key was read hands over',
    ['guarded'],
    ['etcd/src/turn/heirs.ts', 'entry.isKeyExposed || ', ''],
  ),
  mistake(
    'a session hands over however long a removal has been without an answer',
    ['taken'],
    ['etcd/src/turn/heirs.ts', ' && !this.#isLate()', ''],
  ),
  mistake(
    'a removal that a process sent before its session was resumed elsewhere takes out what is held there',
    ['exclusive', 'order'],
    ['etcd/src/entry/leaving.ts', 'isPlain(entry) && !generation.isExported', 'isPlain(entry)'],
  ),
  mistake(
    'a grant is told the revision of the one before it',
    ['tokens'],
    ['etcd/src/turn/heirs.ts', 'entry.grantToken + 1n', 'entry.grantToken'],
  ),
];
