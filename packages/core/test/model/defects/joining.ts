import { inCore, type Defect } from './defect.ts';

/** Seeded defects in the handling of cancelled calls and missing replies. */
export const JOINING_DEFECTS: readonly Defect[] = [
  inCore(
    'leaving does not follow an enqueue in flight',
    ['nothing left', 'progress'],
    ['entry/entry.ts', 'this.#isJoining ? this.#untilJoined() : undefined', 'undefined'],
  ),
  inCore(
    'a waiter that is cancelled stays in the queue',
    ['nothing left', 'progress'],
    [
      'claim/contender.ts',
      '    this.#ownership?.giveUp();\n    void this.#entry.leave();\n',
      '    this.#ownership?.giveUp();\n',
    ],
  ),
  inCore(
    'an enqueue whose outcome is unknown is not followed by a removal',
    ['nothing left', 'progress'],
    ['entry/entry.ts', '    if (!isDefinite(error)) this.#mayBeIn = true;\n', ''],
  ),
  inCore('a refused enqueue is followed by a removal, whose refusal ends the session', 'signal', [
    'entry/entry.ts',
    'if (!isDefinite(error)) this.#mayBeIn = true;',
    'this.#mayBeIn = true;',
  ]),
  inCore(
    'a removal is not repeated',
    ['release', 'nothing left', 'progress'],
    ['entry/entry.ts', '      await this.#takeOutAfter(failure);\n', '      void failure;\n'],
  ),
  inCore(
    'a removal that fails is thrown',
    ['release', 'nothing lost'],
    [
      'entry/entry.ts',
      '      liveness.endByRefusal(',
      '      if (liveness.remainingMs === 0) throw error;\n      liveness.endByRefusal(',
    ],
  ),
  inCore('an enqueue is not repeated', 'outcome', [
    'entry/entry.ts',
    'if (this.#owner.isTry) throw failure;',
    'throw failure;',
  ]),
  inCore(
    'a join continues after it was cancelled',
    'contract',
    [
      'entry/entry.ts',
      "if (this.#isJoining) this.#stop.abort(new QueueLockError('CLOSED', 'the caller gave up the entry'));",
      '',
    ],
    [
      'entry/entry.ts',
      '    await (this.#isJoining',
      '    if (this.#isJoining) void session.remove(queue, id).catch(() => undefined);\n    await (this.#isJoining',
    ],
  ),
  inCore('a join outlives its session', 'at once', [
    'claim/contender.ts',
    "if (this.#step === 'joining') this.#acquisition.retry(error);\n    else ",
    "if (this.#step !== 'joining') ",
  ]),
  inCore('a claim that joins while the session ends gets the same session again', 'outcome', [
    'session/liveness.ts',
    '    this.#health$.error(error);\n    this.#tellListeners(error);\n',
    '    this.#tellListeners(error);\n    this.#health$.error(error);\n',
  ]),
  inCore('a stale session is not replaced', 'outcome', [
    'claim/steps.ts',
    "mayBeStale && isQueueLockError(cause, 'SESSION_LOST')",
    'mayBeStale && cause === undefined',
  ]),
];
