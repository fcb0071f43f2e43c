import type { AttemptEvent } from '@queuelock/harness/check/event';
import type { EventInput } from '@queuelock/harness/check/worker-record';

/** An event of an attempt, without the queue and the number of the attempt. `Attempt` adds these two. */
export type AttemptReport =
  EventInput<AttemptEvent> extends infer E ? (E extends unknown ? Omit<E, 'queue' | 'n'> : never) : never;
