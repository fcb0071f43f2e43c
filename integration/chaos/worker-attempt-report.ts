import type { AttemptEvent } from '@queuelock/harness/check/event';
import type { EventInput } from '@queuelock/harness/check/worker-record';

export type ToldOfAttempt =
  EventInput<AttemptEvent> extends infer E ? (E extends unknown ? Omit<E, 'queue' | 'n'> : never) : never;
