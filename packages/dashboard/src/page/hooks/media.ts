import { useCallback, useSyncExternalStore } from 'react';

/** Whether a media query matches now. */
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

/** Something that moves all the time does so this often, in milliseconds: seldom for those who asked for less motion. */
export function usePaceMs(): number {
  return useMedia('(prefers-reduced-motion: reduce)') ? 1_000 : 100;
}
