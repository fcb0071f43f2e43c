import { inCore, type Defect } from './defect.ts';

/** Whose turn is it, and who still wants it? */
export const WAITING_DEFECTS: readonly Defect[] = [
  inCore('an abort ends no wait', 'at once', [
    'work/wait-limit.ts',
    "      signal.addEventListener('abort', abort);\n",
    '',
  ]),
  inCore('a timeout ends no wait', 'at once', ['work/wait-limit.ts', 'timeoutMs > 0', 'timeoutMs < 0']),
  inCore(
    'an abort or a timeout ends a hold as well',
    ['outcome', 'run', 'signal', 'no way back'],
    ['work/wait-limit.ts', '.pipe(takeUntil(granted$))', ''],
  ),
  inCore('a waiter does not hear of the end of its session', 'at once', [
    'claim/following.ts',
    'this.#follow(live.liveness.health$,',
    'this.#follow(new Observable((deaf) => live.liveness.health$.subscribe({ next: (now) => deaf.next(now), error: () => undefined })),',
  ]),
  inCore('a waiter hears of its first turn only', 'progress', [
    'entry/limit.ts',
    'turns$.pipe(beginningWith(turn))',
    'of(turn)',
  ]),
  inCore(
    'a waiter hears the turns of another entry',
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
    'a lock is granted in doubt',
    'grant',
    ['hold/grant.ts', 'beginning.live.liveness.isAlive && ', ''],
    ['hold/grant.ts', "health === 'alive'", 'health !== undefined'],
  ),
  inCore(
    'a lock is granted without a look at the clock',
    ['grant', 'outcome'],
    [
      'hold/grant.ts',
      '  const { remainingMs }',
      '  if (minRemainingMs === 0) return true;\n  const { remainingMs }',
    ],
  ),
  inCore('a try waits in line', 'at once', [
    'claim/lock.ts',
    "timeoutMs === 0 ? 'try' : 'wait'",
    "timeoutMs === 0 ? 'wait' : 'wait'",
  ]),
  inCore('nobody loses patience with the opening of a session', 'at once', [
    'session/session.ts',
    'clock.after(connectTimeoutMs,',
    'clock.after(24 * 60 * 60 * 1_000,',
  ]),
];
