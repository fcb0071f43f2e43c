import { mutant, type Mutant } from '../mutant.ts';

export const STORMS: readonly Mutant[] = [
  mutant('a request without a response is repeated without backoff', 'no storm', [
    'core/src/kit/definite.ts',
    'new ExponentialBackoff({ initialDelay: 50, maxDelay: 1_000 })',
    'new ExponentialBackoff({ initialDelay: 1, maxDelay: 2 })',
  ]),
  mutant('a failed heartbeat is repeated without backoff', 'no storm', [
    'core/src/session/budget.ts',
    'retryAfterMs = Math.min(200, ttlMs / 40)',
    'retryAfterMs = 1',
  ]),
  mutant('a broken stream is opened again without backoff', 'no storm', [
    'etcd/src/server/watch-connection.ts',
    'new ExponentialBackoff({ initialDelay: 20, maxDelay: 1_000 })',
    'new ExponentialBackoff({ initialDelay: 1, maxDelay: 2 })',
  ]),
  mutant(
    'a refusal does not count as a response',
    ['no storm', 'outcome', 'progress'],
    ['core/src/kit/definite.ts', "  'ACCESS_DENIED',\n", ''],
  ),
];
