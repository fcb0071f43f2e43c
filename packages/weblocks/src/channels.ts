import { channel } from 'node:diagnostics_channel';
import type { RequestArguments } from './options.ts';

// The channels have the names and messages of Node's own `navigator.locks` (24.15 and later). So one
// subscriber receives the events of both implementations.
const START = channel('locks.request.start');
const GRANT = channel('locks.request.grant');
const MISS = channel('locks.request.miss');
const END = channel('locks.request.end');

/** Publishes that a lock request begins. */
export function publishStart({ name, mode }: RequestArguments): void {
  START.publish({ name, mode });
}

/** Publishes that the callback is about to run, with a lock or with `null`. */
export function publishCall({ name, mode }: RequestArguments, isGranted: boolean): void {
  (isGranted ? GRANT : MISS).publish({ name, mode });
}

/**
 * Publishes that a lock request has settled.
 * @param error what the request rejected with, or `undefined` if it resolved
 */
export function publishEnd({ name, mode, steal, ifAvailable }: RequestArguments, error: unknown): void {
  END.publish({ name, mode, steal, ifAvailable, error });
}
