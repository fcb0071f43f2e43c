import type { AcquireOptions, LockClient, MultiOwnership, Ownership, SharedOwnership } from '@queuelock/core';
import type { Holds } from './holds.ts';
import { LIMIT, type Step } from './plan.ts';
import { isRecipe, queueOf } from './recipes.ts';

/** The arguments of `requestHold` besides the client and the step that it executes. */
interface HoldRequest {
  readonly options: AcquireOptions;
  readonly holds: Holds;
  /** The two queues that the clients of the simulated run use. */
  readonly queues: readonly [string, string];
}

/**
 * Requests the hold that one step of a client's plan describes. Resolves with `undefined` if the step is a
 * `tryAcquire` that is not admitted.
 */
export function requestHold(
  client: LockClient,
  { way, queue, permits }: Step,
  { options, holds, queues }: HoldRequest,
): Promise<Ownership | SharedOwnership | MultiOwnership | undefined> {
  // The names of the two queues of the run, for a lock of both. Their order varies, since a lock must not
  // depend on it.
  const together = (): readonly string[] => (permits % 2 === 0 ? queues : queues.toReversed());
  if (way === 'shared') return client.acquire(queue, { ...options, mode: 'shared' });
  if (way === 'try') return client.tryAcquire(queue);
  if (way === 'multi') return client.multi(together()).acquire(options);
  if (way === 'multi try') return client.multi(together()).tryAcquire();
  if (way === 'multi shared') return client.multi(together()).acquire({ ...options, mode: 'shared' });
  if (way === 'permits') return client.acquire('p', { ...options, limit: LIMIT, permits });
  if (way !== 'steal') return client.acquire(queue, options);
  holds.stealIn(queue);
  return client.acquire(queue, { ...options, steal: { reason: 'it is urgent' } });
}

/** Returns the names of the queues in which a step of a client adds entries. */
export function queuesOf(step: Step, { queues }: Pick<HoldRequest, 'queues'>): readonly string[] {
  const { way, queue } = step;
  if (way === 'permits') return ['p'];
  if (isRecipe(step)) return [queueOf(step)];
  return way.startsWith('multi') ? queues : [queue];
}
