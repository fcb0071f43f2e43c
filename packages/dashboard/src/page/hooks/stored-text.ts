import { useCallback, useState } from 'react';

/** Stores a text in this browser. If storage is forbidden, the text is kept until the page closes. */
export function useStoredText(key: string, initial: string): readonly [string, (value: string) => void] {
  const [value, setValue] = useState(() => read(key) ?? initial);
  const store = useCallback(
    (next: string) => {
      setValue(next);
      write(key, next);
    },
    [key],
  );
  return [value, store];
}

function read(key: string): string | undefined {
  try {
    return localStorage.getItem(`queuelock.${key}`) ?? undefined;
  } catch {
    // The browser forbids storage for this page, so there is no stored text.
    return undefined;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(`queuelock.${key}`, value);
  } catch {
    // Storage is forbidden or full, so the text is kept only until the page closes.
  }
}
