import { mutant, type Mutant } from '../mutant.ts';

export const STORMS: readonly Mutant[] = [
  mutant('what has no answer is asked again at once', 'no storm', [
    'core/src/kit/definite.ts',
    'new ExponentialBackoff({ initialDelay: 50, maxDelay: 1_000 })',
    'new ExponentialBackoff({ initialDelay: 1, maxDelay: 2 })',
  ]),
  mutant('a heartbeat that failed is repeated at once', 'no storm', [
    'core/src/session/budget.ts',
    'retryAfterMs = Math.min(200, ttlMs / 40)',
    'retryAfterMs = 1',
  ]),
  mutant('a stream that broke is opened again at once', 'no storm', [
    'etcd/src/server/watch-connection.ts',
    'new ExponentialBackoff({ initialDelay: 20, maxDelay: 1_000 })',
    'new ExponentialBackoff({ initialDelay: 1, maxDelay: 2 })',
  ]),
  mutant(
    'a refusal is no answer',
    ['no storm', 'outcome', 'progress'],
    ['core/src/kit/definite.ts', "  'ACCESS_DENIED',\n", ''],
  ),
  mutant(
    'a leader that was replaced is asked on and on',
    'no storm',
    [
      'etcd/src/session/proof-choice.ts',
      'if (BigInt(knownTerm) >= BigInt(term) ||',
      'if (String(knownTerm) === term ||',
    ],
    ['etcd/src/session/session.ts', '    this.#keepAlive.follow();\n', ''],
  ),
];
