// The performance goals of queuelock. The value of a goal is a ratio of two measurements in one run, or a
// count of the server.

import { etcdGoals, zooKeeperGoals } from './goal-list.ts';
import type { Result, Results } from './results.ts';
import { numberText, textTable } from './table.ts';
import type { Subject, Goal } from './goal.ts';

/** Whether a goal is reached, and whether its stretch goal, the more ambitious limit, is reached too. */
export type Verdict = 'met' | 'met, stretch too' | 'MISSED' | 'not measured';

export function verdictOf({ limit, goal, stretch }: Goal, reached: number | undefined): Verdict {
  if (reached === undefined || Number.isNaN(reached)) return 'not measured';
  const holds = (bar: number): boolean => (limit === 'most' ? reached <= bar : reached >= bar);
  if (holds(stretch)) return 'met, stretch too';
  return holds(goal) ? 'met' : 'MISSED';
}

/** Returns the measured transports of queuelock on each kind of server. */
export function subjectsOf(results: Results): Subject[] {
  const found = new Map<string, Subject>();
  for (const { cell, client, transport } of results.matching({ kind: 'ours' })) {
    const { store, medium } = cell;
    if (store === 'redis' || client !== ourName(transport)) continue;
    found.set(JSON.stringify([store, medium, transport]), { results, store, medium, transport, client });
  }
  return [...found.values()];
}

function ourName(transport: Result['transport']): string {
  return `queuelock, ${transport}`;
}

/** Formats all performance goals of one transport of queuelock as a table. */
export function goalTable(subject: Subject): string {
  const goals = subject.store === 'etcd' ? etcdGoals : zooKeeperGoals;
  const rows = goals.map((goal) => {
    const reached = goal.reached(subject);
    const sign = goal.limit === 'most' ? '<=' : '>=';
    const bars = [goal.goal, goal.stretch].map((bar) => `${sign} ${numberText(bar)}`);
    return [`${goal.id} ${goal.what}`, ...bars, numberText(reached), verdictOf(goal, reached)];
  });
  const title = `Goals: ${subject.client}, ${subject.store} on ${subject.medium}`;
  return `${title}\n${textTable(['goal', 'bar', 'stretch', 'reached', ''], rows)}`;
}
