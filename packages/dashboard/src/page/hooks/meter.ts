import type { QueuesSnapshot } from '@queuelock/bridge/wire';
import { useState } from 'react';
import { EMPTY_METER, metered, type Meter } from '../model/meter.ts';

/**
 * Returns measurements of all queues, such as hand-offs per second, computed from the snapshots that the page
 * has received so far.
 */
export function useMeter(snapshot: QueuesSnapshot | undefined): Meter {
  const [seen, setSeen] = useState({ snapshot: undefined as QueuesSnapshot | undefined, meter: EMPTY_METER });
  if (!snapshot || snapshot.status !== 'live' || snapshot === seen.snapshot) return seen.meter;
  const next = { snapshot, meter: metered(seen.meter, snapshot) };
  setSeen(next);
  return next.meter;
}
