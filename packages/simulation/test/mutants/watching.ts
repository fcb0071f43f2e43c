import { mutant, type Mutant } from '../mutant.ts';

export const WATCHING: readonly Mutant[] = [
  mutant(
    'a waiter does not read after a watch is live again',
    'progress',
    [
      'etcd/src/turn/condition-watch.ts',
      "else if (notification.status === 'live') this.#read(notification.revision);",
      "else if (notification.status === 'live' && !this.#hasRead) this.#read(notification.revision);",
    ],
    ['etcd/src/turn/condition-watch.ts', '  #isOver = false;\n', '  #isOver = false;\n  #hasRead = false;\n'],
    [
      'etcd/src/turn/condition-watch.ts',
      '    this.#reading?.unsubscribe();\n    clearTimeout(this.#again);\n    const condition = this.#condition;\n',
      '    this.#reading?.unsubscribe();\n    clearTimeout(this.#again);\n    const condition = this.#condition;\n    this.#hasRead = true;\n',
    ],
  ),
  mutant('a waiter does not read after its watch begins', 'progress', [
    'etcd/src/turn/condition-watch.ts',
    "else if (notification.status === 'live') this.#read(notification.revision);",
    '',
  ]),
  mutant(
    'every write of a key counts as its end',
    ['order', 'exclusive', 'outcome'],
    [
      'etcd/src/turn/watch-removal.ts',
      "BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision)",
      'type !== undefined && BigInt(kv.mod_revision) > BigInt(createRevision)',
    ],
  ),
  mutant(
    'the creation of a key counts as its end',
    ['order', 'exclusive', 'outcome'],
    [
      'etcd/src/turn/watch-removal.ts',
      'kv.create_revision) > BigInt(createRevision)',
      'kv.create_revision) >= BigInt(createRevision)',
    ],
  ),
  mutant(
    'the end of an earlier life of a key counts',
    ['order', 'exclusive', 'outcome'],
    [
      'etcd/src/turn/watch-removal.ts',
      "return BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision);",
      "return type === 'Delete' && createRevision !== kv.key.toString();",
    ],
  ),
  mutant(
    'every read reports the expected state',
    ['order', 'exclusive', 'outcome'],
    [
      'etcd/src/turn/watch-removal.ts',
      'return { hasHappened: !exists, at: revision };',
      'return { hasHappened: exists || !exists, at: revision };',
    ],
    [
      'etcd/src/turn/conflict-end.ts',
      'return { hasHappened: !exists, at: revision };',
      'return { hasHappened: exists || !exists, at: revision };',
    ],
    [
      'etcd/src/turn/conflict-end.ts',
      'return { hasHappened: exists, at: revision };',
      'return { hasHappened: exists || !exists, at: revision };',
    ],
  ),
  mutant('a waiter does not read again after the removal of its predecessor', 'progress', [
    'core/src/turn/turn-watch.ts',
    '    else this.#readAgain();\n',
    '',
  ]),
  mutant(
    'a stream that breaks is not opened again',
    ['progress', 'view'],
    [
      'etcd/src/server/watch-connection.ts',
      'this.#reconnect = setTimeout(() => void this.#reconnectAfter(error), this.#backoff.duration);',
      '',
    ],
  ),
  mutant(
    'a stream that is opened again watches nothing',
    ['progress', 'view'],
    [
      'etcd/src/server/watch-connection.ts',
      'for (const watcher of this.#watchers) stream.create(watcher);',
      'if (!this.#backoff) for (const watcher of this.#watchers) stream.create(watcher);',
    ],
  ),
  mutant(
    'a waiter is not notified that its session has ended',
    ['progress', 'outcome', 'nothing left'],
    ['core/src/claim/contender.ts', '    else this.#fail(error);\n', ''],
  ),
  mutant(
    'an owner whose entry is removed is not notified',
    ['taken', 'reported', 'exclusive', 'progress'],
    [
      'etcd/src/entry/entry.ts',
      '    this.end.lose(why);',
      '    if (why.code === undefined) this.end.lose(why);',
    ],
    [
      'etcd/src/turn/turns.ts',
      "return watchRemoval(new KeyOfText(entry.keyText, order.toString(), 'utf8'), context);",
      'return new Observable<never>(() => undefined);',
    ],
  ),
  mutant(
    'the end of a session notifies no entry',
    ['progress', 'exclusive', 'nothing left'],
    [
      'core/src/session/liveness.ts',
      '    this.#health$.error(error);\n    this.#tellListeners(error);\n',
      '',
    ],
  ),
  mutant('a waiter reads the queue only once', 'progress', [
    'etcd/src/server/lookups.ts',
    '    this.#reading = false;\n',
    '',
  ]),
  mutant(
    'confirmations of watches are assigned in the order of the requests',
    ['exclusive', 'order', 'outcome', 'view', 'progress'],
    [
      'etcd/src/server/watch-ids.ts',
      ' && this.#requested.size > 0) break;',
      ' && this.#requested.size > 100) break;',
    ],
    [
      'etcd/src/server/watch-stream.ts',
      'if (stray) this.fail(describeStray(stray, watcher));\n    else watcher',
      'watcher',
    ],
  ),
  mutant(
    'a watch keeps the id that was proposed for it',
    ['progress', 'view'],
    ['etcd/src/server/watch-ids.ts', 'this.#owners.set(id, owner);', 'this.#owners.set(request, owner);'],
  ),
];
