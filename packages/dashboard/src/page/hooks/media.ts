import { useCallback, useSyncExternalStore } from 'react';

/** Returns whether a media query matches now. */
export function useMedia(query: string): boolean {
  const listen = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => {
        list.removeEventListener('change', listener);
      };
    },
    [query],
  );
  return useSyncExternalStore(listen, () => matchMedia(query).matches);
}

/**
 * Returns the interval in milliseconds at which a drawing that moves with time is updated. It is longer for
 * users who prefer reduced motion.
 */
export function usePaceMs(): number {
  return useMedia('(prefers-reduced-motion: reduce)') ? 1_000 : 100;
}
