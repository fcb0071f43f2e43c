import type { BridgeError, JoinOptions, PageLock } from '@queuelock/bridge/client';
import { useInsertionEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { IDLE, ComponentJoin, type LockState } from './component-join.ts';
import { useBridge } from './provider.ts';

/** The state of a component's join to a queue, and the functions to join and to leave. */
export interface LockView {
  /** `idle` before `join` and after `leave`; otherwise as the bridge reports it. After `ended` the component may join again. */
  readonly state: LockState;
  /**
   * Position while the component waits, counted from 1: at 1, no entry is ahead. 0 while it holds;
   * `undefined` otherwise.
   */
  readonly position: number | undefined;
  /**
   * The lock while the component holds it, also while it is suspect. Read `lock.held` directly before each action that needs the lock, and send
   * `lock.token` with every write.
   */
  readonly lock: PageLock | undefined;
  /** Aborts when the lock is lost; pass it to the code that needs the lock. `undefined` while the lock is not held. */
  readonly signal: AbortSignal | undefined;
  /** Why the join ended, unless it ended by a release. */
  readonly error: BridgeError | undefined;
  /**
   * Joins the end of the queue; has no effect while the component is in the queue. The function is the same
   * at every rendering.
   */
  readonly join: () => void;
  /**
   * Leaves the queue or releases the lock; the state becomes `idle`. The function is the same at every
   * rendering. To wait until the release is certain, await `lock.release()`.
   */
  readonly leave: () => void;
}

/**
 * Lets a component join a queue. It joins only when `join` is called. When the component unmounts, or its
 * name or client changes, its entry is removed or its lock released. Two components are two contenders: to
 * share a lock, pass it down as a prop.
 * @param options of the next `join`: the label, the longest wait, the request to the holder
 * @throws an `Error` if there is no `BridgeProvider` above
 * @example
 * const { state, lock, join, leave } = useLock('invoices/42');
 */
export function useLock(name: string, options?: JoinOptions): LockView {
  const client = useBridge();
  const [known, setPlace] = useState(() => new ComponentJoin(client, name));
  // Stores the join with `useState` and not with `useMemo`: React may drop a memoized value, and the queue
  // entry with it.
  const isSame = known.client === client && known.name === name;
  const join = isSame ? known : new ComponentJoin(client, name);
  if (!isSame) setPlace(join);
  // Updates the options in an insertion effect, which runs before all other effects. Another effect may call
  // `join`, which reads the options.
  useInsertionEffect(() => {
    join.options = options;
  });
  const state = useSyncExternalStore(join.listen, join.state, () => IDLE);
  return useMemo(() => ({ ...viewOf(state), join: join.join, leave: join.leave }), [state, join]);
}

function viewOf(state: LockState): Omit<LockView, 'join' | 'leave'> {
  const lock = state.status === 'held' || state.status === 'suspect' ? state.lock : undefined;
  return {
    state,
    position: lock ? 0 : state.status === 'queued' ? state.position : undefined,
    lock,
    signal: lock?.signal,
    error: state.status === 'ended' ? state.error : undefined,
  };
}
