import { inCore, type Defect } from './defect.ts';

/** Defects of cancelled calls and missing replies. */
export const JOINING_DEFECTS: readonly Defect[] = [
  inCore(
    'leaving does not follow an enqueue in flight',
    ['nothing left', 'progress'],
    ['entry/entry.ts', '    let left: Promise', '    let entered = false;\n    let left: Promise'],
    ['entry/entry.ts', '      void leave();\n', '      if (entered) void leave();\n'],
    [
      'entry/entry.ts',
      'if (placement) subscriber.next',
      'entered = true;\n        if (placement) subscriber.next',
    ],
  ),
  inCore(
    'a waiter that is cancelled stays in the queue',
    ['nothing left', 'progress'],
    ['entry/entry.ts', '      void leave();\n', ''],
  ),
  inCore(
    'an enqueue whose outcome is unknown is not followed by a removal',
    ['nothing left', 'progress'],
    ['entry/entry.ts', 'attempts.mayBeIn && !isNotIn(error)', 'attempts.mayBeIn && isNotIn(error)'],
  ),
  inCore('a refused enqueue is followed by a removal, whose refusal ends the session', 'signal', [
    'entry/entry.ts',
    'attempts.mayBeIn && !isNotIn',
    '!isNotIn',
  ]),
  inCore(
    'a removal is not repeated',
    ['release', 'nothing left', 'progress'],
    [
      'entry/entry.ts',
      'repeatUntilDefinite(() => session.remove(spec.queue, spec.id), liveness.ending)',
      'session.remove(spec.queue, spec.id).catch(() => undefined)',
    ],
  ),
  inCore(
    'a removal that fails is thrown',
    ['release', 'nothing lost'],
    [
      'entry/entry.ts',
      '    liveness.endByRefusal(',
      '    if (liveness.remainingMs === 0) throw error;\n    liveness.endByRefusal(',
    ],
  ),
  inCore('an enqueue is not repeated', 'outcome', [
    'entry/entry.ts',
    'await repeatUnlessStopped(() => this.#once(stop), stop)',
    'await this.#once(stop)',
  ]),
  inCore(
    'a join continues after it was cancelled',
    'contract',
    [
      'entry/entry.ts',
      "if (isJoining) stop.abort(new QueueLockError('CLOSED', 'the entry is not wanted any more'));",
      '',
    ],
    ['entry/entry.ts', 'left = joined.then(', 'void takeOut(live, spec, true);\n      left = joined.then('],
  ),
  inCore('a join outlives its session', 'at once', [
    'entry/entry.ts',
    '        stop.abort(error);\n        subscriber.error(error);\n',
    '        stop.abort(error);\n',
  ]),
  inCore(
    'a claim that joins while the session ends gets the same session again',
    'outcome',
    [
      'session/session.ts',
      '        live.liveness.health$',
      '        subscriber.next(live);\n        live.liveness.health$',
    ],
    ['session/session.ts', '        });\n        subscriber.next(live);\n', '        });\n'],
  ),
  inCore('a stale session is not replaced', 'outcome', [
    'claim/lock.ts',
    'mayBeStale && isOfStaleSession(cause)',
    'mayBeStale && cause === undefined',
  ]),
];
