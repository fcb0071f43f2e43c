import type { AttemptEvent } from '@queuelock/harness/check/event';
import type { EventInput } from '@queuelock/harness/check/worker-record';

/**
 * An event of a worker's attempt to get a lock. It lacks the name of the queue and the number of the attempt,
 * which `Attempt` adds.
 */
export type AttemptReport =
  EventInput<AttemptEvent> extends infer E ? (E extends unknown ? Omit<E, 'queue' | 'n'> : never) : never;
