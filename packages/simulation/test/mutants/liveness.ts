import { mutant, type Mutant } from '../mutant.ts';

export const LIVENESS: readonly Mutant[] = [
  mutant('a keepalive counts although its proof has another term', 'exclusive', [
    'etcd/src/session/session.ts',
    'if (proof.sound && proof.term === response.term && proof.term === remaining.term) return remaining.ttlMs;',
    'if (proof.sound) return remaining.ttlMs;',
  ]),
  mutant('a keepalive counts without a proof', 'exclusive', [
    'etcd/src/session/session.ts',
    '    const options = {',
    '    if (response.ttlMs > 0) return response.ttlMs;\n    const options = {',
  ]),
  mutant('reads of etcd releases with stale reads count as proofs', 'exclusive', [
    'etcd/src/session/session.ts',
    'strict: this.#context.proofChoice.strictIn(response.term)',
    'strict: false',
  ]),
  mutant('reads of every etcd release count as never stale', 'exclusive', [
    'etcd/src/server/read-trust.ts',
    '  return isUnsound(version, FIRST_SOUND_PATCH);',
    '  return false;',
  ]),
  mutant('a heartbeat proves from the time of its response', 'exclusive', [
    'core/src/session/send-heartbeat.ts',
    'deadlineOf(sentAt, provenMs',
    'deadlineOf(clock.now(), provenMs',
  ]),
  mutant('the safety margin is added instead of subtracted', 'exclusive', [
    'core/src/session/budget.ts',
    '(1 - CLOCK_RATE_ERROR) - safetyMarginMs',
    '(1 + CLOCK_RATE_ERROR) + safetyMarginMs',
  ]),
  mutant(
    'a deadline is checked only when a heartbeat fails',
    ['exclusive', 'progress'],
    [
      'core/src/session/liveness.ts',
      '    if (left > 0) return left;\n',
      '    if (left > 0 || this.isAlive) return Math.max(1, left);\n',
    ],
  ),
  mutant(
    'a hold ends only when a timer fires',
    'exclusive',
    [
      'core/src/session/liveness.ts',
      '    if (left > 0) return left;\n',
      '    if (left > 0 || !this.#isLate) return Math.max(1, left);\n',
    ],
    [
      'core/src/session/liveness.ts',
      '  #cancelAlarm: () => void;\n',
      '  #cancelAlarm: () => void;\n  #isLate = false;\n',
    ],
    [
      'core/src/session/liveness.ts',
      '      if (this.remainingMs > 0) this.#cancelAlarm',
      '      this.#isLate = this.#deadline <= this.#clock.now();\n      if (this.remainingMs > 0) this.#cancelAlarm',
    ],
  ),
  mutant('the end of a session ends no holds', 'exclusive', [
    'core/src/hold/ownership.ts',
    '    const left = this.#live.liveness.remainingMs;\n',
    '    const left = Math.max(1, this.#live.liveness.remainingMs);\n',
  ]),
  mutant('a hold begins with less than the required time', 'time', [
    'core/src/hold/grant.ts',
    'return remainingMs > 0 && remainingMs >= minRemainingMs;',
    'return remainingMs > 0;',
  ]),
];
