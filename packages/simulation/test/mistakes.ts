import type { Rule } from '../src/run/judge.ts';
import type { Alteration } from './altered-product.ts';

/** A mistake that somebody could make. */
export interface Mistake {
  readonly what: string;
  /** The rules that may notice it first. */
  readonly noticedBy: readonly Rule[];
  readonly alterations: readonly Alteration[];
  /** With the runs from this seed on it is noticed soon. */
  readonly seed?: number;
}

function mistake(
  what: string,
  noticedBy: Rule | readonly Rule[],
  ...alterations: readonly Alteration[]
): Mistake {
  return { what, noticedBy: [noticedBy].flat(), alterations };
}

const LIVENESS: readonly Mistake[] = [
  mistake('a keepalive counts whatever term its proof was answered in', 'exclusive', [
    'etcd/src/session.ts',
    'return proof.sound && proof.term === beat.term ? beat.ttlMs : 0;',
    'return proof.sound ? beat.ttlMs : 0;',
  ]),
  mistake('a keepalive counts without a proof', 'exclusive', [
    'etcd/src/session.ts',
    '    const asking = {',
    '    if (beat.ttlMs > 0) return beat.ttlMs;\n    const asking = {',
  ]),
  mistake('reads of releases that may answer them stale are taken for proofs', 'exclusive', [
    'etcd/src/session.ts',
    'strict: this.#around.proofChoice.strictIn(beat.term)',
    'strict: false',
  ]),
  mistake(
    'a stream goes on after a keepalive without an answer',
    ['exclusive', 'nothing left'],
    [
      'etcd/src/keep-alive.ts',
      '    this.#line = undefined;\n    line.channel.abandon();\n    const failure',
      '    const failure',
    ],
  ),
  mistake('a beat proves from its answer on', 'exclusive', [
    'core/src/heartbeat.ts',
    'deadlineOf(sentAt, provenMs',
    'deadlineOf(clock.now(), provenMs',
  ]),
  mistake(
    'a hold is believed in until a timer says otherwise',
    'exclusive',
    [
      'core/src/liveness.ts',
      '    if (left > 0) return left;\n',
      '    if (left > 0 || !this.#isLate) return Math.max(1, left);\n',
    ],
    [
      'core/src/liveness.ts',
      '  #cancelAlarm: () => void;\n',
      '  #cancelAlarm: () => void;\n  #isLate = false;\n',
    ],
    [
      'core/src/liveness.ts',
      '      if (this.remainingMs > 0) this.#cancelAlarm',
      '      this.#isLate = this.#deadline <= this.#clock.now();\n      if (this.remainingMs > 0) this.#cancelAlarm',
    ],
  ),
];

const PLACES: readonly Mistake[] = [
  mistake('whoever was ahead counts as an owner when it goes', 'order', [
    'etcd/src/gone.ts',
    'owned: toldOwned || entry.owned',
    'owned: true',
  ]),
  mistake('permits ahead count as one each', 'order', [
    'core/src/watch-kit.ts',
    '(left -= ref.permits ?? 1) < 0',
    '(left -= 1) < 0',
  ]),
  mistake('a writer does not wait for readers', 'order', [
    'etcd/src/ahead.ts',
    '(own.shared && (other.shared || marked.has(other.name)))',
    'other.shared || marked.has(other.name)',
  ]),
  mistake(
    'an enqueue that is sent again makes the entry anew',
    ['order', 'nothing left', 'progress', 'outcome', 'tokens'],
    [
      'etcd/src/enqueue.ts',
      'return [...newcomers.map(({ entry }) => absent(entry.sought)), sameGeneration(ticket)];',
      'return [sameGeneration(ticket)];',
    ],
  ),
  mistake(
    'a request of the past may enter',
    ['nothing left', 'progress'],
    [
      'etcd/src/enqueue.ts',
      'return [...newcomers.map(({ entry }) => absent(entry.sought)), sameGeneration(ticket)];',
      'return newcomers.map(({ entry }) => absent(entry.sought));',
    ],
  ),
];

const WATCHING: readonly Mistake[] = [
  mistake('whoever watches again does not look', 'progress', [
    'etcd/src/gone.ts',
    "else if (news.status === 'live') lookNow();",
    "else if (news.status === 'live' && !looking) lookNow();",
  ]),
  mistake('a stream that breaks is not opened again', 'progress', [
    'etcd/src/watch-line.ts',
    'this.#reconnect = setTimeout(() => void this.#again(error), this.#pause.duration);',
    '',
  ]),
  mistake('a watch that is refused stays so', 'progress', [
    'etcd/src/watch-line.ts',
    '      setTimeout(() => {\n        this.#renew(watcher);\n      }, REFUSED_PAUSE_MS).unref();\n',
    '',
  ]),
  mistake('streams that say nothing are trusted', 'progress', [
    'etcd/src/watch-stream.ts',
    '      this.#end(new Error(`no answer on the watch stream within ${withinMs} ms`));\n',
    '',
  ]),
];

const ENDS: readonly Mistake[] = [
  mistake(
    'a removal without an answer counts as done',
    ['progress', 'nothing left'],
    [
      'core/src/entry.ts',
      'await repeatUntilDefinite(() => session.remove(spec.queue, spec.id), liveness.ending);',
      'await session.remove(spec.queue, spec.id).catch(() => undefined);',
    ],
  ),
  mistake(
    'whoever gives up without an answer leaves what it may have entered',
    ['progress', 'nothing left'],
    [
      'core/src/entry.ts',
      '(attempts.mayBeIn && !isNotIn(error) ? takeOut(live, spec) : undefined)',
      '(attempts.mayBeIn && !isNotIn(error) ? undefined : undefined)',
    ],
  ),
  mistake('a closed session leaves its stream open', 'nothing left', [
    'etcd/src/keep-alive.ts',
    '    line?.channel.close();\n',
    '',
  ]),
  mistake(
    'whoever unsubscribes leaves its entry',
    ['progress', 'nothing left'],
    [
      'etcd/src/leaving.ts',
      '    if (isPlain(entry)) return await leaving.add(entry);\n',
      '    if (isPlain(entry)) return true;\n',
    ],
  ),
];

const STORMS: readonly Mistake[] = [
  mistake('what has no answer is asked again at once', 'no storm', [
    'core/src/definite.ts',
    'new ExponentialBackoff({ initialDelay: 50, maxDelay: 1_000 })',
    'new ExponentialBackoff({ initialDelay: 1, maxDelay: 2 })',
  ]),
  mistake('a heartbeat that failed is repeated at once', 'no storm', [
    'core/src/budget.ts',
    'retryAfterMs: Math.min(200, ttlMs / 40)',
    'retryAfterMs: 1',
  ]),
];

export const MISTAKES: readonly Mistake[] = [...LIVENESS, ...PLACES, ...WATCHING, ...ENDS, ...STORMS];
