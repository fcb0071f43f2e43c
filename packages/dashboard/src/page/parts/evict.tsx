import type { EntryRef } from '@queuelock/bridge/wire';
import { useBridge } from '@queuelock/react';
import { useEffect, useState, type ReactElement } from 'react';
import { useTask } from '../hooks/task.ts';
import { withoutCode } from '../model/freshness.ts';
import { ordinal, plain } from '../model/text.ts';
import { Dialog, Pairs } from './dialog.tsx';
import { StoredText } from './words.tsx';

/** The entry that the user wants to evict, as it was when the dialog opened. */
export interface Target {
  /** Name of the queue that contains the entry. */
  readonly name: string;
  readonly entry: EntryRef & {
    readonly position?: number;
    readonly host?: string;
    readonly pid?: number;
    readonly token?: string;
  };
}

const MAX_REASON = 160;

/** A dialog in which the user confirms that the shown entry is to be removed. It also shows the result. */
export function EvictDialog({
  target,
  onClose,
}: {
  readonly target: Target;
  readonly onClose: () => void;
}): ReactElement {
  const { name, entry } = target;
  const client = useBridge();
  const [reason, setReason] = useState('');
  const [task, start] = useTask<boolean>();
  const owner = plain(entry.owner) || 'this entry';
  if (task.status === 'done') {
    const text = task.value
      ? `${owner} was removed from ${plain(name)}. Its owner receives your name and the reason.`
      : `${owner} had left the queue already: nothing was removed.`;
    return <Outcome title={task.value ? 'Evicted' : 'Nothing to evict'} text={text} onClose={onClose} />;
  }
  return (
    <Dialog title={`Evict ${owner}?`} onClose={onClose}>
      <TargetFacts target={target} />
      <p className="warning">
        {entry.position === 0
          ? 'This entry holds the lock. The next waiter is granted at once, and this holder may not notice in time: evict only a holder that is stuck.'
          : 'The entry is removed from the queue. A program that waits again joins at the end.'}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start(() => client.evict(name, refOf(entry), { reason: reason.trim() }));
        }}
      >
        <label>
          Reason, shown to all users
          <input
            required
            maxLength={MAX_REASON}
            value={reason}
            onChange={(event) => {
              setReason(event.target.value);
            }}
          />
        </label>
        {task.status === 'failed' && <p className="failure">{plain(withoutCode(task.message))}</p>}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button className="danger" disabled={task.status === 'busy' || reason.trim() === ''}>
            {task.status === 'busy' ? 'Evicting…' : `Evict ${owner}`}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Shows the result of an action in a dialog, with a button that closes the dialog. */
export function Outcome({
  title,
  text,
  onClose,
}: {
  readonly title: string;
  readonly text: string;
  readonly onClose: () => void;
}): ReactElement {
  return (
    <Dialog title={title} onClose={onClose}>
      <p role="status">{text}</p>
      <footer>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  );
}

function TargetFacts({ target: { name, entry } }: { readonly target: Target }): ReactElement {
  const client = useBridge();
  const [token, setToken] = useState(entry.token);
  useEffect(() => {
    let isMounted = entry.token === undefined;
    client.tokenOf(name, { key: entry.key, order: entry.order }).then(
      (found) => {
        if (isMounted) setToken(found ?? 'none: it has left the queue');
      },
      (error: unknown) => {
        if (isMounted)
          setToken(`unknown: ${error instanceof Error ? withoutCode(error.message) : String(error)}`);
      },
    );
    return () => {
      isMounted = false;
    };
  }, [client, name, entry]);
  const state =
    entry.position === 0
      ? 'holds'
      : entry.position === undefined
        ? undefined
        : `waits, ${ordinal(entry.position)} in the queue`;
  return (
    <Pairs
      pairs={[
        ['Queue', <StoredText key="queue" text={name} />],
        ['Owner', <StoredText key="owner" text={entry.owner} />],
        [
          'Process',
          <StoredText
            key="process"
            text={[entry.host, entry.pid].filter((part) => part !== undefined).join(' · ')}
          />,
        ],
        ...(state === undefined ? [] : [['State', state] as const]),
        ['Token', <code key="token">{token ?? '…'}</code>],
        ['Key', <code key="key">{plain(entry.key)}</code>],
      ]}
    />
  );
}

function refOf({ key, order, owner, id }: EntryRef): EntryRef {
  return { key, order, owner, ...(id === undefined ? {} : { id }) };
}
