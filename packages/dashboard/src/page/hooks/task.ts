import { useCallback, useEffect, useRef, useState } from 'react';

/** State of an action that the user starts. Only one such action runs at a time. */
export type Task<T> =
  | { readonly status: 'idle' | 'busy' }
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'failed'; readonly message: string };

/**
 * Returns the state of an action, and a function that starts the action. The action's signal aborts when the
 * component that uses it is removed from the page.
 */
export function useTask<T>(): readonly [Task<T>, (work: (signal: AbortSignal) => Promise<T>) => void] {
  const [task, setTask] = useState<Task<T>>({ status: 'idle' });
  const unmounted = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    unmounted.current = controller;
    return () => {
      controller.abort();
    };
  }, []);
  const start = useCallback((work: (signal: AbortSignal) => Promise<T>) => {
    const signal = unmounted.current?.signal;
    if (!signal || signal.aborted) return;
    setTask({ status: 'busy' });
    work(signal).then(
      (value) => {
        setTask({ status: 'done', value });
      },
      (error: unknown) => {
        setTask({ status: 'failed', message: error instanceof Error ? error.message : String(error) });
      },
    );
  }, []);
  return [task, start];
}
