import { mistake, type Mistake } from '../mistake.ts';
import type { Rule } from '../../src/run/judge.ts';

const TOO_EARLY: readonly Rule[] = ['order', 'exclusive'];
const LEFT_OVER: readonly Rule[] = ['progress', 'nothing left', 'outcome', 'order', 'exclusive'];
const ENDLESS: readonly Rule[] = ['progress', 'outcome', 'nothing left', 'no storm'];
const TOO_OFTEN: readonly Rule[] = ['no storm', 'progress', 'outcome'];

const TIMES: readonly Mistake[] = [
  mistake('an acknowledged heartbeat proves itself', 'exclusive', [
    'zookeeper/src/session/beats.ts',
    'earlier <= sentAt - this.#gapMs);',
    'earlier <= sentAt + this.#gapMs).concat(sentAt);',
  ]),
  mistake('a session lives from its connection on', 'exclusive', [
    'zookeeper/src/session/session.ts',
    'return leftOfTtl(this.ttlMs, sentAt - base);',
    'return base > 0 ? this.ttlMs : 0;',
  ]),
  mistake('the margin is added and not kept back', 'exclusive', [
    'core/src/session/budget.ts',
    '(1 - CLOCK_RATE_ERROR) - marginMs',
    '(1 + CLOCK_RATE_ERROR) + marginMs',
  ]),
  mistake('the end of a session ends no holds', 'exclusive', [
    'core/src/hold/ownership.ts',
    '    const left = this.#live.liveness.remainingMs;\n',
    '    const left = Math.max(1, this.#live.liveness.remainingMs);\n',
  ]),
  mistake(
    'a session that is given up is closed before its holds end',
    ['exclusive', 'outcome'],
    ['zookeeper/src/session/session.ts', '    this.#isGivenUp = true;\n', '    void this.#zk.close();\n'],
  ),
  mistake('a hold begins without the time that it needs', 'time', [
    'core/src/hold/grant.ts',
    'return remainingMs > 0 && remainingMs >= needsMs;',
    'return remainingMs > 0;',
  ]),
];

const PLACES: readonly Mistake[] = [
  mistake('one more than the limit is let in', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= ref.permits ?? 1) < -1',
  ]),
  mistake('permits ahead count as one each', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= 1) < 0',
  ]),
  mistake(
    'the names of entries tell of one permit each',
    [...TOO_EARLY, 'outcome'],
    [
      'zookeeper/src/queue/entries.ts',
      'Number.isSafeInteger(limit) ? { permits, limit } : {};',
      'Number.isSafeInteger(limit) ? { permits: 1, limit } : {};',
    ],
  ),
  mistake('a writer does not wait for readers', TOO_EARLY, [
    'zookeeper/src/queue/entries.ts',
    'isAhead(other, own) && !(other.shared && own.shared)',
    'isAhead(other, own) && !other.shared',
  ]),
  mistake('a reader waits for nobody', TOO_EARLY, [
    'zookeeper/src/queue/entries.ts',
    'isAhead(other, own) && !(other.shared && own.shared)',
    'isAhead(other, own) && !own.shared',
  ]),
  mistake('those behind count as ahead', ENDLESS, [
    'zookeeper/src/queue/entries.ts',
    'distance(other.sequence, own.sequence) > 0;',
    'distance(other.sequence, own.sequence) !== 0;',
  ]),
  mistake(
    'the oldest are taken for the nearest',
    [...TOO_EARLY, ...ENDLESS],
    [
      'zookeeper/src/queue/entries.ts',
      '!(other.shared && own.shared))\n    .reverse();',
      '!(other.shared && own.shared));',
    ],
  ),
  mistake('of those in the way the last counts for nothing', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'return nearestFirst.slice(0, last + 1);',
    'return nearestFirst.slice(0, Math.max(0, last));',
  ]),
  mistake('whoever goes takes all others along', TOO_EARLY, [
    'core/src/turn/watch-kit.ts',
    'refs.filter((other) => other !== ref)',
    'refs.filter((other) => other === undefined)',
  ]),
  mistake('whoever was ahead counts as an owner when it goes', TOO_EARLY, [
    'zookeeper/src/turn/turns.ts',
    'tell(known.owned ? { owned: true } : hasLeft(going) ? {} : undefined);',
    'tell(hasLeft(going) ? { owned: true } : undefined);',
  ]),
  mistake('a writer that turns into a reader counts as gone', TOO_EARLY, [
    'zookeeper/src/turn/turns.ts',
    'return mayTurn ? unwritten && !place.scheme.turnsUnwritten : seen;',
    'return mayTurn ? true : seen;',
  ]),
  mistake(
    'a token is the number of the entry',
    ['tokens', 'order', 'exclusive'],
    ['zookeeper/src/turn/turns.ts', 'token: seat.token,', 'token: orderOf(seat.own.sequence),'],
  ),
];

const ENTERING: readonly Mistake[] = [
  mistake('an enqueue that is sent again makes another node', LEFT_OVER, [
    'zookeeper/src/entry/entry.ts',
    "    if (state.status === 'absent') return undefined;\n",
    "    if (state.status === 'absent' || state.status === 'unknown') return undefined;\n",
  ]),
  mistake(
    'an entry is on no session',
    ['progress', 'nothing left', 'outcome'],
    [
      'zookeeper/src/entry/enqueue.ts',
      "text, mode: 'ephemeral-sequential' };",
      "text, mode: 'persistent-sequential' as 'ephemeral-sequential' };",
    ],
  ),
  mistake(
    'several names are entered one by one, in no order',
    'progress',
    [
      'zookeeper/src/multi/together.ts',
      'if (doesAtOnce(zk) && members.length > 1) {',
      'if (doesAtOnce(zk) && members.length > 60) {',
    ],
    [
      'zookeeper/src/multi/together.ts',
      'return needsNoOrder ? takeEach(members)',
      'return needsNoOrder || doesAtOnce(zk) ? takeEach(members)',
    ],
  ),
  mistake('whoever enters several names forgets that it has asked', LEFT_OVER, [
    'zookeeper/src/multi/at-once.ts',
    '    for (const { entry } of members) entry.attempted();\n',
    '',
  ]),
  mistake('a directory that is missing is not made', ENDLESS, [
    'zookeeper/src/queue/parents.ts',
    "    return created.path !== undefined || created.reason === 'exists' ? true : undefined;",
    '    return created ? true : undefined;',
  ]),
  mistake('a removal without an answer counts as done', LEFT_OVER, [
    'core/src/entry/entry.ts',
    'await repeatUntilDefinite(() => session.remove(spec.queue, spec.id), liveness.ending);',
    'await session.remove(spec.queue, spec.id).catch(() => undefined);',
  ]),
  mistake('whoever leaves is not taken out', LEFT_OVER, [
    'zookeeper/src/entry/entry.ts',
    "const nodes = node.status === 'turning' ? [node.twin, path] : [path];",
    "const nodes = node.status === 'turning' ? [node.twin] : [];",
  ]),
  mistake('of several that leave at once none does when one has gone', LEFT_OVER, [
    'zookeeper/src/driver/removals.ts',
    'resolve(isDone || this.#zk.delete(path));',
    'resolve(removals.length > 1 || this.#zk.delete(path));',
  ]),
  mistake('a reader leaves the writer that it was', LEFT_OVER, [
    'zookeeper/src/entry/entry.ts',
    '        await this.#zk.delete(twin);\n',
    '',
  ]),
];

const WATCHING: readonly Mistake[] = [
  mistake(
    'a node that goes is no news',
    'progress',
    [
      'zookeeper/src/server/watches.ts',
      "        if (change === 'deleted') found({ seen: true, own, unwritten });\n        else looks.now();",
      "        if (change !== 'deleted') looks.now();",
    ],
    ['zookeeper/src/server/watches.ts', 'SAFETY_MS = { least: 10_000,', 'SAFETY_MS = { least: 10_000_000,'],
  ),
  mistake(
    'whoever watches on a new connection does not look',
    ['progress', 'told'],
    [
      'zookeeper/src/server/watches.ts',
      'subscriber.add(reconnects(zk).subscribe({ next: () => looks.now(), error }));',
      'subscriber.add(reconnects(zk).subscribe({ error }));',
    ],
    ['zookeeper/src/server/watches.ts', 'SAFETY_MS = { least: 10_000,', 'SAFETY_MS = { least: 10_000_000,'],
  ),
  mistake(
    'a change of a node counts as its end',
    [...TOO_EARLY, 'outcome'],
    [
      'zookeeper/src/server/watches.ts',
      "if (change === 'deleted') found(",
      "if (change === 'deleted' || change === 'changed') found(",
    ],
  ),
  mistake(
    'whoever has looked once never looks again',
    ['progress', 'view'],
    [
      'zookeeper/src/base/looks.ts',
      "    this.#state = 'idle';\n    if (isStale) this.now();",
      '    if (isStale) this.now();',
    ],
  ),
  mistake(
    'an own entry that is removed is no news',
    ['told', 'exclusive', 'progress'],
    [
      'zookeeper/src/turn/turns.ts',
      '      ownGone$: ownGone(pathNow, watches),',
      '      ownGone$: new Observable(() => undefined),',
    ],
  ),
];

const CONNECTIONS: readonly Mistake[] = [
  mistake(
    'a connection that breaks is not made again',
    ['progress', 'outcome', 'view'],
    [
      'zookeeper/src/wire/line.ts',
      '      pace.broke(at - before.since);\n      this.#state = this.#pause();',
      '      pace.broke(at - before.since);',
    ],
  ),
  mistake(
    'a connection has no pulse',
    ['progress', 'exclusive', 'outcome', 'nothing left'],
    ['zookeeper/src/wire/link.ts', "    if (need.type === 'ping') this.tell(ping(), Xid.ping);\n", ''],
    ['zookeeper/src/wire/pulse.ts', "  if (now >= deadAt) return { type: 'end' };\n", ''],
  ),
  mistake(
    'a closed session is left to its timeout, with its socket',
    ['nothing left', 'progress'],
    [
      'zookeeper/src/wire/line.ts',
      "    else if (before.status !== 'ended') before.link.destroy(new WireError('the connection was closed here'));\n",
      '',
    ],
    [
      'zookeeper/src/wire/line.ts',
      "    if (this.#state.status === 'connected') {\n      const answered",
      "    if (this.#state.status !== 'connected') {\n      const answered",
    ],
  ),
  mistake('a failed connection is made again at once', TOO_OFTEN, [
    'zookeeper/src/base/pace.ts',
    'return Math.max(0, this.#notBefore - this.#clock.now());',
    'return 0;',
  ]),
  mistake(
    'answers of a broken connection go to the next',
    ENDLESS,
    ['zookeeper/src/wire/link.ts', '    this.#pipeline.fail(CONNECTION_LOSS);\n', ''],
    ['zookeeper/src/driver/calls.ts', '      call.fail(noAnswer(what, this.#timeoutMs));\n', ''],
  ),
];

/** Those that could be made in the core or the ZooKeeper backend. */
export const ON_ZOOKEEPER: readonly Mistake[] = [
  ...TIMES,
  ...PLACES,
  ...ENTERING,
  ...WATCHING,
  ...CONNECTIONS,
];
