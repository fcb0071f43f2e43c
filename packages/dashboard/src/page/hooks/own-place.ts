import type { JoinOptions } from '@queuelock/bridge/client';
import { useLock, type LockView } from '@queuelock/react';
import { useMemo, useState } from 'react';
import { useKept } from './kept.ts';

/** The place of whoever looks at a queue, and how it is to be taken. */
export interface OwnPlace {
  readonly view: LockView;
  /** Of the entry, while there is one. */
  readonly id: string | undefined;
  /** There is a place, or one is on its way. */
  readonly isTaken: boolean;
  readonly owner: string;
  readonly setOwner: (owner: string) => void;
  readonly isReader: boolean;
  readonly setIsReader: (isReader: boolean) => void;
}

/** A place at this queue for as long as the caller is shown, whatever else comes and goes. */
export function useOwnPlace(name: string): OwnPlace {
  const [owner, setOwner] = useKept('owner', '');
  const [isReader, setIsReader] = useState(false);
  const options = useMemo((): JoinOptions => {
    const label = owner.trim();
    return { mode: isReader ? 'shared' : 'exclusive', ...(label === '' ? {} : { owner: label }) };
  }, [owner, isReader]);
  const view = useLock(name, options);
  const { state, lock } = view;
  const id = state.status === 'queued' ? state.id : lock?.id;
  const isTaken = state.status !== 'idle' && state.status !== 'ended';
  return { view, id, isTaken, owner, setOwner, isReader, setIsReader };
}
