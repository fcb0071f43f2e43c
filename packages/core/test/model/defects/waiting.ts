import { inCore, type Defect } from './defect.ts';

/** Seeded defects of the code that waits for admission. */
export const WAITING_DEFECTS: readonly Defect[] = [
  inCore('an abort does not end a wait', 'at once', [
    'work/wait-limit.ts',
    "    signal.addEventListener('abort', abort);\n",
    '',
  ]),
  inCore('a timeout does not end a wait', 'at once', [
    'work/wait-limit.ts',
    'timeoutMs > 0',
    'timeoutMs < 0',
  ]),
  inCore(
    'an abort or a timeout ends a hold as well',
    ['outcome', 'run', 'signal', 'no way back'],
    ['claim/contender.ts', '    this.#acquisition.endWait();\n', ''],
  ),
  inCore('a waiter is not notified of the end of its session', 'at once', [
    'claim/contender.ts',
    '    else this.#fail(error);\n',
    '',
  ]),
  inCore('a waiter is notified of its first turn only', 'progress', [
    'claim/contender.ts',
    'turn$.subscribe(this)',
    'new Subscription()',
  ]),
  inCore(
    'a waiter gets the turns of another entry',
    ['order', 'exclusive', 'grant', 'progress', 'outcome', 'signal', 'learns'],
    ['claim/contender.ts', 'this.#followTurns(turns$);', 'this.#followTurns(misrouted(turns$));'],
    [
      'claim/contender.ts',
      '/**\n * The state machine of one entry:',
      `let previous$: Observable<Turn> | undefined;
function misrouted(own$: Observable<Turn>): Observable<Turn> {
  const turn$ = previous$ ?? own$;
  previous$ = own$;
  return turn$;
}

/**
 * The state machine of one entry:`,
    ],
  ),
  inCore(
    'a waiter does not wait',
    ['exclusive', 'order'],
    ['claim/contender.ts', 'if (!now.admitted) {', 'if (!now) {'],
  ),
  inCore(
    'a lock is granted while the session is suspect',
    'grant',
    ['hold/grant.ts', 'beginning.live.liveness.isAlive && ', ''],
    ['hold/grant.ts', "health === 'alive'", 'health !== undefined'],
  ),
  inCore(
    'a lock is granted without a read of the clock',
    ['grant', 'outcome'],
    [
      'hold/grant.ts',
      '  const remainingMs =',
      '  if (minRemainingMs === 0) return true;\n  const remainingMs =',
    ],
  ),
  inCore('a try waits in the queue', 'at once', [
    'claim/acquisition.ts',
    'return this.#request.waitLimit.timeoutMs === 0;',
    'return false;',
  ]),
  inCore('the opening of a session has no timeout', 'at once', [
    'session/session.ts',
    'clock.after(connectTimeoutMs,',
    'clock.after(24 * 60 * 60 * 1_000,',
  ]),
];
