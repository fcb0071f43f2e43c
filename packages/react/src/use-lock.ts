import type { BridgeError, JoinOptions, PageLock } from '@queuelock/bridge/client';
import { useInsertionEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { IDLE, Place, type LockState } from './place.ts';
import { useBridge } from './provider.ts';

/** A component's place at a queue, and what it can do there. */
export interface LockView {
  /** `idle` before `join` and after `leave`; otherwise as the bridge tells it. After `ended` one may join again. */
  readonly state: LockState;
  /** While it is queued: 1 is next. 0 while it holds; `undefined` otherwise. */
  readonly position: number | undefined;
  /** While it holds, also in doubt. Ask `lock.held` at the moment when it counts; send `lock.token` with every write. */
  readonly lock: PageLock | undefined;
  /** Aborts when what is held is lost; hand it to the work. `undefined` while nothing is held. */
  readonly signal: AbortSignal | undefined;
  /** Why it ended, if that was not by a release. */
  readonly error: BridgeError | undefined;
  /** Stands in line, at its end; does nothing for one who stands there already. The same function at every rendering. */
  readonly join: () => void;
  /** Leaves the line, or releases, and is `idle`. The same function at every rendering. `lock.release()` tells when that is certain. */
  readonly leave: () => void;
}

/**
 * A place of this component at the queue of a name. Nothing is joined before `join` is called. When the component goes, or its name
 * or client changes, what it joined is left or released. Two components are two contenders: to share a lock, hand it down.
 *
 * @param options for the next `join`: who that is, for how long it waits, what it asks of the holder.
 */
export function useLock(name: string, options?: JoinOptions): LockView {
  const client = useBridge();
  const [known, setPlace] = useState(() => new Place(client, name));
  // State and not a memo: React may drop a memo, and a place in line with it.
  const isSame = known.client === client && known.name === name;
  const place = isSame ? known : new Place(client, name);
  if (!isSame) setPlace(place);
  // Before all other effects: one of them may join.
  useInsertionEffect(() => {
    place.options = options;
  });
  const state = useSyncExternalStore(place.listen, place.state, () => IDLE);
  return useMemo(() => ({ ...viewOf(state), join: place.join, leave: place.leave }), [state, place]);
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
