import { useBridge } from '@queuelock/react';
import { useEffect, useState } from 'react';
import type { Now } from '../model/freshness.ts';

/**
 * The time, again every so many milliseconds, as long as somebody can see it. Not `isRunning`: it stands still, so that ages do not grow
 * of what may be over.
 */
export function useNow(everyMs: number, isRunning = true): Now {
  const client = useBridge();
  const [now, setNow] = useState<Now>(() => ({ page: Date.now(), bridge: client.serverNow() }));
  useEffect(() => {
    if (!isRunning) return undefined;
    const tick = (): void => {
      if (document.visibilityState === 'visible') setNow({ page: Date.now(), bridge: client.serverNow() });
    };
    tick();
    const timer = setInterval(tick, everyMs);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [client, everyMs, isRunning]);
  return now;
}
