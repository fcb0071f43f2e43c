import type { Stage } from './faults.ts';
import { FAULTS_END_MS } from './plan.ts';

/**
 * Longest time in milliseconds without progress after the last fault while a client still waits. A longer
 * time is a violation, since every hold is shorter than this.
 */
const RESPITE_MS = 90_000;
/**
 * Time in milliseconds after which observers must see the present state of their queues. It is longer than
 * the interval of their reads.
 */
const SEEN_WITHIN_MS = 40_000;
const CLOSES_WITHIN_MS = 30_000;
const MAX_EVENTS = 200_000;
/**
 * Time in milliseconds after the end of the clients. By then all their leases have expired, even if a change
 * of the leader restarted their TTLs.
 */
const FORGOTTEN_AFTER_MS = 30_000;

/**
 * Continues the simulated run until all clients have ended, and checks that they left nothing in the store.
 */
export async function finish(stage: Stage): Promise<void> {
  const { timeline, judge, clients } = stage;
  const isEndless = (): boolean => timeline.events > MAX_EVENTS;
  const isDone = (): boolean =>
    isEndless() || judge.broken !== undefined || !clients.some(({ isBusy }) => isBusy);
  const isQuiet = (): boolean => timeline.now() - judge.lastAt > RESPITE_MS;
  await timeline.run(FAULTS_END_MS, isEndless);
  judge.note('nothing goes wrong any more');
  await timeline.run(Infinity, () => isDone() || isQuiet());
  const busy = clients.filter(({ isBusy }) => isBusy).map(({ name }) => name);
  judge.require('progress', !isEndless(), () => 'the same again and again');
  judge.require(
    'progress',
    busy.length === 0 || judge.broken !== undefined,
    () => `${busy.join(', ')} still wait`,
  );
  for (const { excess, name } of clients)
    judge.require('nothing left', excess <= 0, () => `${name} has ${excess} connections too many`);
  await checkViews(stage);
  if (judge.broken) return;
  for (const client of clients) client.close();
  await timeline.run(timeline.now() + CLOSES_WITHIN_MS, isDone);
  await timeline.run(timeline.now() + FORGOTTEN_AFTER_MS, () => judge.broken !== undefined);
  const left = leftIn(stage);
  judge.require('nothing left', left.length === 0, () => left.join(', '));
}

/** Checks that each observer shows the present state of its queue. */
async function checkViews({ timeline, judge, clients }: Stage): Promise<void> {
  const views = clients.flatMap(({ view }) => view ?? []);
  if (views.length === 0 || judge.broken) return;
  await timeline.run(timeline.now() + SEEN_WITHIN_MS);
  for (const { isRight, queue } of views)
    judge.require('view', isRight, () => `${queue} is not shown as it is`);
}

function leftIn({ store, clients }: Stage): string[] {
  return [
    ...clients.filter(({ isBusy }) => isBusy).map(({ name }) => `${name} does not close`),
    ...store.left(),
    ...clients.flatMap(({ name, machine }) =>
      machine.timers > 0 ? [`${machine.timers} timers of ${name}`] : [],
    ),
  ];
}
