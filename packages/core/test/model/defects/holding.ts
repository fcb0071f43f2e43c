import { inCore, type Defect } from './defect.ts';

/** Seeded defects of the code that ends a hold and reports its end. */
export const HOLDING_DEFECTS: readonly Defect[] = [
  inCore(
    '`held` does not read the clock',
    ['no way back', 'ends first'],
    ['hold/ownership.ts', 'return this.remainingMs > 0;', 'return this.#end === undefined;'],
  ),
  inCore(
    'a loss does not abort the signal',
    ['signal', 'told in time', 'outcome', 'at once'],
    ['hold/ownership.ts', '      this.#loss?.abort(this.#lossError);\n      tellLoss(', '      tellLoss('],
  ),
  inCore('the signal is late in reporting the end of the session', 'signal', [
    'hold/ownership.ts',
    '    if (left === 0) this.revoke(this.#live.liveness.ending.reason);\n',
    '',
  ]),
  inCore('a release aborts the signal', 'signal', [
    'hold/ownership.ts',
    "if (this.#finish('released')) ",
    "this.#loss?.abort(this);\n    if (this.#finish('released')) ",
  ]),
  inCore('a released lock is held until the server has confirmed the release', 'no way back', [
    'hold/ownership.ts',
    'if (this.#end) return 0;',
    "if (this.#end === 'lost') return 0;",
  ]),
  inCore(
    'a new session revives an old ownership',
    'no way back',
    [
      'session/liveness.ts',
      '  constructor(clock: Clock, deadline: number, endpoint: string) {\n',
      `  static readonly newest = new WeakMap<Clock, Liveness>();
  get newest(): Liveness {
    return Liveness.newest.get(this.#clock) ?? this;
  }
  constructor(clock: Clock, deadline: number, endpoint: string) {
    Liveness.newest.set(clock, this);
`,
    ],
    [
      'hold/ownership.ts',
      'left = this.#live.liveness.remainingMs',
      'left = this.#live.liveness.newest.remainingMs',
    ],
    ['hold/ownership.ts', 'if (this.#end) return 0;', "if (this.#end === 'released') return 0;"],
  ),
  inCore('a release is confirmed before the server has confirmed it', 'release', [
    'hold/ownership.ts',
    'await this.#entry.leave();',
    'void this.#entry.leave();',
  ]),
  inCore('a state says `held` after the release', 'no way back', [
    'claim/contender.ts',
    "if (this.#step === 'holding' && this.#ownership?.held)",
    'if (this.#ownership)',
  ]),
  inCore('a holder is not notified that its entry was removed', 'learns', [
    'claim/contender.ts',
    "    this.#step = 'ending';\n",
    "    if (this.#ownership && String(cause).includes('ENTRY_LOST')) return;\n    this.#step = 'ending';\n",
  ]),
  inCore('a run resolves although its lock was lost', 'run', [
    'work/work.ts',
    '  throwIfLost(reason, what, outcome);\n',
    '',
  ]),
  inCore(
    'a run may wait for itself',
    ['run', 'progress'],
    ['reentrancy/call-chain.ts', 'held.push(level.hold)', 'held.pop()'],
  ),
  inCore('a holder that unsubscribes holds until the server has confirmed it', 'no way back', [
    'claim/contender.ts',
    '    this.#ownership?.giveUp();\n',
    '',
  ]),
];
