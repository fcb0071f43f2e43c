import type { TaskTimeout } from './shared-timeout.ts';

const PARTS = 4;

/**
 * Runs the task after a timeout, as `setTimeout` does. However, while the event loop is blocked, at most a quarter of the timeout passes. So a
 * request that was not sent yet, or a response that was not read yet, still has the other three quarters.
 * @param ms milliseconds
 * @param keepsAlive whether the timeout keeps the process alive. Default true
 * @returns a function that cancels the timeout
 */
export function startTimeout(ms: number, task: () => void, keepsAlive = true): () => void {
  let left = PARTS;
  const wait = (): NodeJS.Timeout => {
    const timer = setTimeout(next, ms / PARTS);
    return keepsAlive ? timer : timer.unref();
  };
  const next = (): void => {
    left -= 1;
    if (left === 0) task();
    else timer = wait();
  };
  let timer = wait();
  return () => {
    clearTimeout(timer);
  };
}

/** Creates a timeout with a timer of its own, for one task at a time. */
export function timeoutOfOne(ms: number): TaskTimeout {
  let cancel: () => void;
  return {
    ms,
    isShared: false,
    start: (task) => {
      cancel = startTimeout(ms, () => task.timedOut());
    },
    cancel: () => {
      cancel();
    },
  };
}
