import type { Verdict } from './judge.ts';

/**
 * Formats the verdict of the demo and hints for the next steps. `place` is the store that the demo ran on.
 */
export function closingLines(verdict: Verdict, place: string): string[] {
  const { ok, violations, grants, served, cancelled, expired, handOffs, handOffMs } = verdict;
  const facts = [
    `${String(grants)} grants, never two at a time, in the server's order, with growing tokens`,
    `${String(served)} released, ${String(cancelled)} left while waiting, ${String(expired)} crashed and expired; no contender is missing`,
    ...(handOffMs === undefined ? [] : [`${String(handOffs)} hand-offs, median ${handOffMs.toFixed(2)} ms`]),
  ];
  return [
    ok ? 'verdict: OK' : `verdict: VIOLATED, ${String(violations.length)} times`,
    ...(ok ? facts : violations.map(({ rule, message }) => `${rule}: ${message}`)).map((line) => `  ${line}`),
    /^(?:memory|sqlite):/.test(place)
      ? 'next: queuelock demo --backend etcd://127.0.0.1:2379 (several machines); README'
      : 'next: queuelock run NAME -- command; the library is in the README',
  ];
}
