import type { JoinOptions } from '@queuelock/bridge/client';
import { useLock, type LockView } from '@queuelock/react';
import { useMemo, useState } from 'react';
import { useStoredText } from './stored-text.ts';

/** The membership of the dashboard's user in a queue, with its actions. */
export interface OwnJoin {
  readonly view: LockView;
  /** Id of the user's entry in the queue; `undefined` while there is no entry. */
  readonly id: string | undefined;
  /** Whether the user has joined the queue or is joining it. */
  readonly hasJoined: boolean;
  readonly owner: string;
  readonly setOwner: (owner: string) => void;
  readonly isReader: boolean;
  readonly setIsReader: (isReader: boolean) => void;
}

/**
 * Provides the user's join to the queue with this name. The join ends when the calling component is no longer
 * shown.
 */
export function useOwnJoin(name: string): OwnJoin {
  const [owner, setOwner] = useStoredText('owner', '');
  const [isReader, setIsReader] = useState(false);
  const options = useMemo((): JoinOptions => {
    const label = owner.trim();
    return { mode: isReader ? 'shared' : 'exclusive', ...(label === '' ? {} : { owner: label }) };
  }, [owner, isReader]);
  const view = useLock(name, options);
  const { state, lock } = view;
  const id = state.status === 'queued' ? state.id : lock?.id;
  const hasJoined = state.status !== 'idle' && state.status !== 'ended';
  return { view, id, hasJoined, owner, setOwner, isReader, setIsReader };
}
