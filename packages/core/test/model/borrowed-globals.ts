import type { Timeline } from './timeline.ts';

/** The members of `Timeline`, the virtual time of a history, that the replacement of `setTimeout` uses. */
type Pacemaker = Pick<Timeline, 'after' | 'acting'>;

interface Handle {
  readonly cancel: () => void;
  unref(): Handle;
}

/**
 * Replaces `setTimeout` and `Math.random`, which the npm package cockatiel uses for its delays. So a history
 * takes no real time and runs the same way each time. Also replaces the process's listeners for unhandled
 * rejections by `onLost`, which receives the reason of each rejection. Returns a function that restores all
 * of them.
 */
export function borrowGlobals(timeline: Pacemaker, onLost: (reason: unknown) => void): () => void {
  const { setTimeout, clearTimeout } = globalThis;
  const { random } = Math;
  const listeners = process.rawListeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', onLost);
  Math.random = () => 0.5;
  Object.assign(globalThis, {
    setTimeout: (task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): Handle => {
      const cancel = timeline.after(Math.max(1, Math.ceil(ms)), () => task(...args), timeline.acting);
      const handle: Handle = { cancel, unref: () => handle };
      return handle;
    },
    clearTimeout: (handle: Handle | NodeJS.Timeout | undefined): void => {
      if (handle && 'cancel' in handle) handle.cancel();
      else clearTimeout(handle);
    },
  });
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Math.random = random;
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) {
      process.on('unhandledRejection', listener as NodeJS.UnhandledRejectionListener);
    }
  };
}
