import { useCallback, useState } from 'react';

/** A text that this browser keeps, if it may; otherwise until the page is closed. */
export function useKept(key: string, initial: string): readonly [string, (value: string) => void] {
  const [value, setValue] = useState(() => read(key) ?? initial);
  const keep = useCallback(
    (next: string) => {
      setValue(next);
      write(key, next);
    },
    [key],
  );
  return [value, keep];
}

function read(key: string): string | undefined {
  try {
    return localStorage.getItem(`queuelock.${key}`) ?? undefined;
  } catch {
    // Storage is forbidden here: nothing was kept.
    return undefined;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(`queuelock.${key}`, value);
  } catch {
    // Forbidden or full: it lasts as long as the page.
  }
}
