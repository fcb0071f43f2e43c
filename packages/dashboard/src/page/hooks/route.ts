import { useMemo, useSyncExternalStore } from 'react';
import { routeOf, type Route } from '../model/route.ts';

function listen(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => {
    removeEventListener('hashchange', listener);
  };
}

/** Returns the view that the address of the page selects. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(listen, () => location.hash);
  return useMemo(() => routeOf(hash), [hash]);
}
