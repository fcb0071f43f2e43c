import { useBridge } from '@queuelock/react';
import { useEffect, useState } from 'react';
import type { Now } from '../model/freshness.ts';

/**
 * Returns the present time, updated every `everyMs` while the page is visible. Updates stop while `isRunning`
 * is false, so that ages on the page do not grow while its data is outdated.
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
