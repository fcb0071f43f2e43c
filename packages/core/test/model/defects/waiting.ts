import { inCore, type Defect } from './defect.ts';

/** Defects of waiting. */
export const WAITING_DEFECTS: readonly Defect[] = [
  inCore('an abort does not end a wait', 'at once', [
    'work/wait-limit.ts',
    "      signal.addEventListener('abort', abort);\n",
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
    ['work/wait-limit.ts', '.pipe(takeUntil(granted$))', ''],
  ),
  inCore('a waiter is not notified of the end of its session', 'at once', [
    'claim/following.ts',
    'this.#follow(live.liveness.health$,',
    'this.#follow(new Observable((deaf) => live.liveness.health$.subscribe({ next: (now) => deaf.next(now), error: () => undefined })),',
  ]),
  inCore('a waiter is notified of its first turn only', 'progress', [
    'entry/limit.ts',
    'turns$.pipe(beginningWith(turn))',
    'of(turn)',
  ]),
  inCore(
    'a waiter gets the turns of another entry',
    ['order', 'exclusive', 'grant', 'progress', 'outcome', 'signal', 'learns'],
    ['entry/limit.ts', 'turns$.pipe(beginningWith', 'misrouted(turns$).pipe(beginningWith'],
    [
      'entry/limit.ts',
      'function turnsFrom(',
      `let previous$: Observable<Turn> | undefined;
function misrouted(own$: Observable<Turn>): Observable<Turn> {
  const turn$ = previous$ ?? own$;
  previous$ = own$;
  return turn$;
}

function turnsFrom(`,
    ],
  ),
  inCore(
    'a waiter does not wait',
    ['exclusive', 'order'],
    ['claim/following.ts', 'if (!now.admitted) {', 'if (!now) {'],
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
      '  const { remainingMs }',
      '  if (minRemainingMs === 0) return true;\n  const { remainingMs }',
    ],
  ),
  inCore('a try waits in the queue', 'at once', [
    'claim/lock.ts',
    "timeoutMs === 0 ? 'try' : 'wait'",
    "timeoutMs === 0 ? 'wait' : 'wait'",
  ]),
  inCore('the opening of a session has no timeout', 'at once', [
    'session/session.ts',
    'clock.after(connectTimeoutMs,',
    'clock.after(24 * 60 * 60 * 1_000,',
  ]),
];
