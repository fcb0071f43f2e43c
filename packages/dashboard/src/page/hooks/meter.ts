import type { QueuesPicture } from '@queuelock/bridge/wire';
import { useState } from 'react';
import { EMPTY_METER, metered, type Meter } from '../model/meter.ts';

/** What the pictures so far tell together. */
export function useMeter(picture: QueuesPicture | undefined): Meter {
  const [seen, setSeen] = useState({ picture: undefined as QueuesPicture | undefined, meter: EMPTY_METER });
  if (!picture || picture.status !== 'live' || picture === seen.picture) return seen.meter;
  const next = { picture, meter: metered(seen.meter, picture) };
  setSeen(next);
  return next.meter;
}
