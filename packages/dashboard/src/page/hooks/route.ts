import { useMemo, useSyncExternalStore } from 'react';
import { routeOf, type Route } from '../model/route.ts';

function listen(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => {
    removeEventListener('hashchange', listener);
  };
}

/** What the address says is to be shown. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(listen, () => location.hash);
  return useMemo(() => routeOf(hash), [hash]);
}
