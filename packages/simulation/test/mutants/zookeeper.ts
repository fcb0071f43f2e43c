import { mutant, type Mutant } from '../mutant.ts';
import type { Rule } from '../../src/run/rule.ts';

const TOO_EARLY: readonly Rule[] = ['order', 'exclusive'];
const LEFT_OVER: readonly Rule[] = ['progress', 'nothing left', 'outcome', 'order', 'exclusive'];
const ENDLESS: readonly Rule[] = ['progress', 'outcome', 'nothing left', 'no storm'];
const TOO_OFTEN: readonly Rule[] = ['no storm', 'progress', 'outcome'];

const TIMES: readonly Mutant[] = [
  mutant('an acknowledged heartbeat proves itself', 'exclusive', [
    'zookeeper/src/session/heartbeat-proof.ts',
    'earlier <= sentAt - this.#gapMs);',
    'earlier <= sentAt + this.#gapMs).concat(sentAt);',
  ]),
  mutant('the proven time begins with the connection instead of its attempt', 'exclusive', [
    'zookeeper/src/session/session.ts',
    'return leftOfTtl(this.ttlMs, sentAt - base);',
    'return base > 0 ? this.ttlMs : 0;',
  ]),
  mutant('the safety margin is added instead of subtracted', 'exclusive', [
    'core/src/session/budget.ts',
    '(1 - CLOCK_RATE_ERROR) - safetyMarginMs',
    '(1 + CLOCK_RATE_ERROR) + safetyMarginMs',
  ]),
  mutant('the end of a session ends no holds', 'exclusive', [
    'core/src/hold/ownership.ts',
    '    const left = this.#live.liveness.remainingMs;\n',
    '    const left = Math.max(1, this.#live.liveness.remainingMs);\n',
  ]),
  mutant(
    'a session that is given up is closed before its holds end',
    ['exclusive', 'outcome'],
    ['zookeeper/src/session/session.ts', '    this.#isGivenUp = true;\n', '    void this.#zk.close();\n'],
  ),
  mutant('a hold begins with less than the required time', 'time', [
    'core/src/hold/grant.ts',
    'return remainingMs > 0 && remainingMs >= minRemainingMs;',
    'return remainingMs > 0;',
  ]),
];

const POSITIONS: readonly Mutant[] = [
  mutant('one more entry than the limit is admitted', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= ref.permits ?? 1) < -1',
  ]),
  mutant('entries ahead count as one permit each', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= 1) < 0',
  ]),
  mutant(
    'the names of entries always contain one permit',
    [...TOO_EARLY, 'outcome'],
    [
      'zookeeper/src/queue/entries.ts',
      'Number.isSafeInteger(limit) ? { permits, limit } : NO_PERMITS;',
      'Number.isSafeInteger(limit) ? { permits: 1, limit } : NO_PERMITS;',
    ],
  ),
  mutant('a writer does not wait for readers', TOO_EARLY, [
    'zookeeper/src/queue/entries.ts',
    'howFar(other) > 0 && !(other.shared && own.shared)',
    'howFar(other) > 0 && !other.shared',
  ]),
  mutant('a reader does not wait for writers', TOO_EARLY, [
    'zookeeper/src/queue/entries.ts',
    'howFar(other) > 0 && !(other.shared && own.shared)',
    'howFar(other) > 0 && !own.shared',
  ]),
  mutant('entries behind count as ahead', ENDLESS, [
    'zookeeper/src/queue/entries.ts',
    'howFar(other) > 0 && !(other.shared && own.shared)',
    'howFar(other) !== 0 && !(other.shared && own.shared)',
  ]),
  mutant(
    'the oldest entries count as the nearest predecessors',
    [...TOO_EARLY, ...ENDLESS],
    [
      'zookeeper/src/queue/entries.ts',
      'Number(a.shared) - Number(b.shared))\n    .reverse();',
      'Number(a.shared) - Number(b.shared));',
    ],
  ),
  mutant('the last conflicting entry is ignored', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'return nearestFirst.slice(0, last + 1);',
    'return nearestFirst.slice(0, Math.max(0, last));',
  ]),
  mutant('a removal removes all other entries too', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'refs.filter((other) => other !== ref)',
    'refs.filter((other) => other === undefined)',
  ]),
  mutant('a removed predecessor always counts as an owner', TOO_EARLY, [
    'zookeeper/src/turn/conflict-end.ts',
    'this.#emit(isOwner ? { owned: true } : this.#hasLeft(removal) ? {} : undefined);',
    'this.#emit(isOwner || this.#hasLeft(removal) ? { owned: true } : undefined);',
  ]),
  mutant('a writer that is converted to a reader counts as removed', TOO_EARLY, [
    'zookeeper/src/turn/conflict-end.ts',
    'return mayConvert ? unwritten && !scheme.convertsWithoutWrite : observed;',
    'return mayConvert ? true : observed;',
  ]),
  mutant(
    'the number of an entry serves as its token',
    ['tokens', 'order', 'exclusive'],
    ['zookeeper/src/turn/turns.ts', 'token: position.token,', 'token: orderOf(position.own.sequence),'],
  ),
];

const ENTERING: readonly Mutant[] = [
  mutant('a repeated enqueue creates another node', LEFT_OVER, [
    'zookeeper/src/entry/entry.ts',
    "    if (state.status === 'absent') return undefined;\n",
    "    if (state.status === 'absent' || state.status === 'unknown') return undefined;\n",
  ]),
  mutant(
    'an entry belongs to no session',
    ['progress', 'nothing left', 'outcome'],
    [
      'zookeeper/src/entry/enqueue.ts',
      "text, mode: 'ephemeral-sequential' };",
      "text, mode: 'persistent-sequential' as 'ephemeral-sequential' };",
    ],
  ),
  mutant(
    'several names are entered one by one, in any order',
    'progress',
    [
      'zookeeper/src/multi/enqueue-all.ts',
      'if (hasTransactions(zk) && members.length > 1) {',
      'if (hasTransactions(zk) && members.length > 60) {',
    ],
    [
      'zookeeper/src/multi/enqueue-all.ts',
      'return needsNoOrder ? enqueueEach(members)',
      'return needsNoOrder || hasTransactions(zk) ? enqueueEach(members)',
    ],
  ),
  mutant('a repeated enqueue of several names does not find its earlier attempt', LEFT_OVER, [
    'zookeeper/src/multi/transaction.ts',
    '    for (const { entry } of members) entry.markAttempted();\n',
    '',
  ]),
  mutant('a missing directory is not created', ENDLESS, [
    'zookeeper/src/queue/parents.ts',
    "    return created.path !== undefined || created.reason === 'exists' ? true : undefined;",
    '    return created ? true : undefined;',
  ]),
  mutant('a removal without a response counts as done', LEFT_OVER, [
    'core/src/entry/entry.ts',
    '      await this.#takeOutAfter(failure);\n',
    '      void failure;\n',
  ]),
  mutant('a released entry is not removed', LEFT_OVER, [
    'zookeeper/src/entry/entry.ts',
    "const nodes = node.status === 'converting' ? [node.otherPath, path] : [path];",
    "const nodes = node.status === 'converting' ? [node.otherPath] : [];",
  ]),
  mutant('a batch of removals fails as a whole if one entry is gone', LEFT_OVER, [
    'zookeeper/src/driver/removal-batcher.ts',
    'resolve(isDone || this.#zk.delete(path));',
    'resolve(removals.length > 1 || this.#zk.delete(path));',
  ]),
  mutant('the conversion to a reader leaves the writer node', LEFT_OVER, [
    'zookeeper/src/entry/entry.ts',
    '        await this.#zk.delete(otherPath);\n',
    '',
  ]),
];

const WATCHING: readonly Mutant[] = [
  mutant(
    'the removal of a node causes no notification',
    'progress',
    [
      'zookeeper/src/server/node-watch.ts',
      "    if (change === 'deleted') this.#found({ observed: true, own: this.#own, unwritten: this.#unwritten });\n    else this.#reads.readNow();",
      "    if (change !== 'deleted') this.#reads.readNow();",
    ],
    [
      'zookeeper/src/server/node-watch.ts',
      'SAFETY_INTERVAL_MS = { min: 10_000,',
      'SAFETY_INTERVAL_MS = { min: 10_000_000,',
    ],
  ),
  mutant(
    'a waiter does not read after a reconnect',
    ['progress', 'reported'],
    [
      'zookeeper/src/server/watches.ts',
      "if (status === 'back') for (const node of [...this.#nodes.values()]) node.readNow();",
      "if (status === 'back') return;",
    ],
    [
      'zookeeper/src/server/node-watch.ts',
      'SAFETY_INTERVAL_MS = { min: 10_000,',
      'SAFETY_INTERVAL_MS = { min: 10_000_000,',
    ],
  ),
  mutant(
    'a change of a node counts as its end',
    [...TOO_EARLY, 'outcome'],
    [
      'zookeeper/src/server/node-watch.ts',
      "if (change === 'deleted') this.#found(",
      "if (change === 'deleted' || change === 'changed') this.#found(",
    ],
  ),
  mutant(
    'a waiter reads the children only once',
    ['progress', 'view'],
    [
      'zookeeper/src/base/repeated-reads.ts',
      "    this.#state = 'idle';\n    if (isStale) this.readNow();",
      '    if (isStale) this.readNow();',
    ],
  ),
  mutant(
    'the removal of the own entry causes no notification',
    ['reported', 'exclusive', 'progress'],
    [
      'zookeeper/src/turn/turns.ts',
      'return new OwnRemoval(this.#waiter);',
      'return new Observable<never>(() => undefined);',
    ],
  ),
  mutant(
    'the entry of a long hold is never watched',
    ['reported', 'exclusive', 'progress'],
    [
      'core/src/turn/turn-watch.ts',
      '    if (unwatched) unwatched.start(this);\n    else\n',
      '    if (!unwatched)\n',
    ],
  ),
  mutant(
    'the deadlines of a session end with the first one',
    ['reported', 'exclusive', ...ENDLESS],
    ['core/src/kit/deadline-queue.ts', '      this.#isArmed = false;\n', ''],
  ),
];

const CONNECTIONS: readonly Mutant[] = [
  mutant(
    'a connection that breaks is not made again',
    ['progress', 'outcome', 'view'],
    [
      'zookeeper/src/wire/connections.ts',
      '      pacer.recordBreak(at - before.since);\n      this.#state = this.#pause();',
      '      pacer.recordBreak(at - before.since);',
    ],
  ),
  mutant(
    'a connection sends no pings',
    ['progress', 'exclusive', 'outcome', 'nothing left'],
    ['zookeeper/src/wire/link.ts', "    if (need.type === 'ping') this.tell(ping(), Xid.ping);\n", ''],
    ['zookeeper/src/wire/pulse.ts', "  if (now >= deadAt) return { type: 'end' };\n", ''],
  ),
  mutant(
    'the close of a session leaves its socket and session to the timeout',
    ['nothing left', 'progress'],
    [
      'zookeeper/src/wire/connections.ts',
      "    else if (before.status !== 'ended') before.link.destroy(new WireError('the connection was closed here'));\n",
      '',
    ],
    [
      'zookeeper/src/wire/connections.ts',
      "    if (this.#state.status === 'connected') {\n      const answered",
      "    if (this.#state.status !== 'connected') {\n      const answered",
    ],
  ),
  mutant('a failed connection is repeated without backoff', TOO_OFTEN, [
    'zookeeper/src/base/connection-pacer.ts',
    'return Math.max(0, this.#notBefore - this.#clock.now());',
    'return 0;',
  ]),
  mutant(
    'responses of a broken connection are assigned to the next connection',
    ENDLESS,
    ['zookeeper/src/wire/link.ts', '    this.#pipeline.fail(CONNECTION_LOSS);\n', ''],
    ['zookeeper/src/driver/calls.ts', '    call.fail(requestTimedOut(what, this.#timeout.ms));\n', ''],
  ),
];

/** Mutants of the core and of the ZooKeeper backend. */
export const ON_ZOOKEEPER: readonly Mutant[] = [
  ...TIMES,
  ...POSITIONS,
  ...ENTERING,
  ...WATCHING,
  ...CONNECTIONS,
];
