import { checkedSignal } from '@queuelock/core/backend';
import { aborted } from './patience.ts';
import { merge } from './rx.ts';

/** A signal that follows others. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  /** Follows them no more. */
  stop(): void;
}

/**
 * Aborts with the reason of the first that aborts, and looks at them whenever somebody looks at it: as right as they are, also when
 * timers are late. `AbortSignal.any` does not look.
 */
export function firstToAbort(...signals: readonly AbortSignal[]): FollowingSignal {
  const controller = new AbortController();
  const ends = merge(...signals.map(aborted)).subscribe({
    error: (reason: unknown) => controller.abort(reason),
  });
  // To look at one makes it abort, which is heard here at once.
  const signal = checkedSignal(controller, () => signals.some(({ aborted: isAborted }) => isAborted));
  return { signal, stop: () => ends.unsubscribe() };
}
