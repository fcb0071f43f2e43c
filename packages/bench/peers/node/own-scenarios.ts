// Scenarios that only queuelock supports.
import { loops } from './free.ts';
import type { OwnLock } from './ours.ts';
import { nowUs, sayAndWait, type Parameters } from './protocol.ts';

const IDLE_TTL_MS = 10_000;

/** Measures the acquisition and release of several free locks in one step. */
export async function many(lock: OwnLock, parameters: Parameters): Promise<object> {
  const contender = await lock.open();
  const per = parameters.number('per');
  const count = parameters.number('locks');
  const names = Array.from({ length: count }, (_, i) => `${parameters.text('name')}-${i}`);
  const groups = Array.from({ length: Math.ceil(count / per) }, (_, i) =>
    names.slice(i * per, (i + 1) * per),
  );
  const result = await loops(parameters, {
    count: groups.length,
    cycle: async (group) => (await contender.acquireAll(groups[group] ?? []))(),
  });
  await contender.close();
  const { cycles, warmed, perSecond, clientCpu, ...times } = result;
  const each = { cycles: cycles * per, warmed: warmed * per, perSecond: perSecond * per };
  return { ...times, ...each, clientCpu: clientCpu / per };
}

/**
 * Measures how long it takes to notify all waiters behind the holds of one session. All these holds end in
 * one change of the store.
 */
export async function mass(lock: OwnLock, parameters: Parameters): Promise<object> {
  const names = Array.from({ length: parameters.number('n') }, (_, i) => `${parameters.text('name')}-${i}`);
  const [holder, waiter] = [await lock.open(), await lock.open()];
  await Promise.all(names.map((name) => holder.acquire(name)));
  const grants = names.map((name) => waiter.acquire(name).then(() => nowUs()));
  await lock.untilWatching(names.length);
  const revoke = await holder.revocation();
  const begunAt = nowUs();
  const answered = revoke().then(() => nowUs());
  const [answeredAt, ...knownAt] = await Promise.all([answered, ...grants]);
  const answerMs = (answeredAt - begunAt) / 1_000;
  const allKnowMs = (Math.max(...knownAt) - begunAt) / 1_000;
  return { answerMs, allKnowMs, ratio: allKnowMs / answerMs };
}

/**
 * Holds locks and makes no further calls, until the harness has counted the requests that idle holds cause.
 */
export async function idle(lock: OwnLock, parameters: Parameters): Promise<object> {
  const names = Array.from(
    { length: parameters.number('held') },
    (_, i) => `${parameters.text('name')}-${i}`,
  );
  const contender = await lock.open(IDLE_TTL_MS);
  await Promise.all(names.map((name) => contender.acquire(name)));
  // Waits until the server has all watches, because a holder begins to watch its own entry some time after
  // the grant.
  await lock.untilWatching(names.length);
  await sayAndWait({ ready: true });
  await contender.close();
  return { held: names.length };
}
