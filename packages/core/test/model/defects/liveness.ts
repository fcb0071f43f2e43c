import { inCore, type Defect } from './defect.ts';

/** Seeded defects of the code that decides whether a session is alive, suspect or lost. */
export const LIVENESS_DEFECTS: readonly Defect[] = [
  inCore('the deadline counts from the reply to a renewal, not from its sending', 'budget', [
    'session/send-heartbeat.ts',
    'listener.proven(deadlineOf(sentAt,',
    'listener.proven(deadlineOf(clock.now(),',
  ]),
  inCore('the first deadline counts from the reply to the opening', 'budget', [
    'session/session.ts',
    'deadlineOf(openedAt,',
    'deadlineOf(settings.clock.now(),',
  ]),
  inCore('clocks are assumed to run equally fast', 'budget', [
    'session/budget.ts',
    'CLOCK_RATE_ERROR = 0.01',
    'CLOCK_RATE_ERROR = 0',
  ]),
  inCore('a renewal that proves less shortens the proven time', 'no needless loss', [
    'session/liveness.ts',
    'Math.max(this.#deadline, deadline)',
    'deadline',
  ]),
  inCore(
    'a late reply revives what has ended',
    ['no way back', 'nothing lost'],
    ['session/liveness.ts', 'if (this.#ended) return 0;', ''],
    ['session/liveness.ts', 'if (this.remainingMs === 0) return;', ''],
    ['hold/ownership.ts', 'if (this.#end) return 0;', "if (this.#end === 'released') return 0;"],
  ),
  inCore(
    'only the timer reads the clock',
    ['budget', 'ends first', 'exclusive'],
    ['session/liveness.ts', '  #deadline: number;', '  #rung = false;\n  #deadline: number;'],
    [
      'session/liveness.ts',
      'if (left > 0) return left;',
      'if (left > 0 || !this.#rung) return Math.max(left, 1);',
    ],
    [
      'session/liveness.ts',
      'if (this.remainingMs > 0) this.#cancelAlarm',
      'this.#rung = this.#deadline <= this.#clock.now();\n      if (this.remainingMs > 0) this.#cancelAlarm',
    ],
  ),
  inCore('no timer ends a hold, only a read does', 'told in time', [
    'session/liveness.ts',
    'this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()),',
    'this.#clock.after(24 * 60 * 60 * 1_000,',
  ]),
  inCore('the heartbeats stop after the first', 'no needless loss', [
    'session/heartbeat.ts',
    '    repeat(),\n',
    '',
  ]),
  inCore('two heartbeat loops run', 'contract', [
    'session/heartbeat.ts',
    'return sendHeartbeat(live.session, listener, { pace, clock, deadline })',
    'return (void sendHeartbeat(live.session, listener, { pace, clock, deadline }), sendHeartbeat(live.session, listener, { pace, clock, deadline }))',
  ]),
  inCore('an overdue heartbeat does not make the session suspect', 'doubt', [
    'session/heartbeat.ts',
    '    overdue: doubt,\n',
    '',
  ]),
  inCore('a failed heartbeat does not make the session suspect', 'doubt', [
    'session/heartbeat.ts',
    '    failed: doubt,\n',
    '    failed: () => undefined,\n',
  ]),
  inCore('the doubts of the backend are ignored', 'doubt', [
    'session/heartbeat.ts',
    '(live.session.doubts$ ?? NEVER)',
    'NEVER',
  ]),
];
