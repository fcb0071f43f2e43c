import { channel } from 'node:diagnostics_channel';
import type { Wish } from './options.ts';

// The names and messages of Node's own `navigator.locks` (24.15 and later), so that what listens to one hears both.
const START = channel('locks.request.start');
const GRANT = channel('locks.request.grant');
const MISS = channel('locks.request.miss');
const END = channel('locks.request.end');

/** A request begins. */
export function tellStart({ name, mode }: Wish): void {
  START.publish({ name, mode });
}

/** The callback is about to run, with a lock or with `null`. */
export function tellCall({ name, mode }: Wish, isGranted: boolean): void {
  (isGranted ? GRANT : MISS).publish({ name, mode });
}

/** A request has settled. `error`: what it rejected with, if it did. */
export function tellEnd({ name, mode, steal, ifAvailable }: Wish, error: unknown): void {
  END.publish({ name, mode, steal, ifAvailable, error });
}
