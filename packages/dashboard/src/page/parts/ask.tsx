import type { HandoverResponse, EntrySnapshot } from '@queuelock/bridge/wire';
import { useBridge } from '@queuelock/react';
import { useState, type ReactElement } from 'react';
import { useTask } from '../hooks/task.ts';
import { withoutCode } from '../model/freshness.ts';
import { plain } from '../model/text.ts';
import { Dialog, Pairs } from './dialog.tsx';
import { Outcome } from './evict.tsx';
import { StoredText } from './words.tsx';

const ANSWERS: Readonly<Record<HandoverResponse['answer'], string>> = {
  yields: 'The holder releases the lock.',
  declined: 'The holder declined.',
  ignored: 'The holder did not respond in time. Not every program handles requests.',
  released: 'The holder released the lock meanwhile.',
  free: 'No client held the lock any more.',
};

const WITHIN_S = [5, 15, 30, 60] as const;

export interface AskProps {
  readonly name: string;
  readonly holder: EntrySnapshot;
  readonly onClose: () => void;
}

/**
 * A dialog in which the user requests the lock from its holder, and sees the holder's response. Closing the
 * dialog withdraws the request.
 */
export function AskDialog({ name, holder, onClose }: AskProps): ReactElement {
  const client = useBridge();
  const [reason, setReason] = useState('');
  const [withinS, setWithinS] = useState<number>(15);
  const [task, start] = useTask<HandoverResponse>();
  const owner = plain(holder.owner) || 'the holder';
  if (task.status === 'done') {
    const { answer, reason: why } = task.value;
    const text = `${ANSWERS[answer]}${why === undefined ? '' : ` “${plain(why)}”`}`;
    return <Outcome title={`Request to ${owner}`} text={text} onClose={onClose} />;
  }
  const isBusy = task.status === 'busy';
  return (
    <Dialog title={`Request the lock from ${owner}?`} onClose={onClose}>
      <Pairs
        pairs={[
          ['Queue', <StoredText key="queue" text={name} />],
          ['Holder', <StoredText key="owner" text={holder.owner} />],
          ['Token', <code key="token">{holder.token ?? 'unknown'}</code>],
        ]}
      />
      <p>The request joins the queue until the holder answers. The holder sees your name and may decline.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start((signal) => client.ask(name, { reason: reason.trim(), withinMs: withinS * 1_000, signal }));
        }}
      >
        <label>
          Reason, shown to the holder
          <input
            required
            maxLength={200}
            value={reason}
            disabled={isBusy}
            onChange={(event) => {
              setReason(event.target.value);
            }}
          />
        </label>
        <label>
          Answer within
          <select
            value={withinS}
            disabled={isBusy}
            onChange={(event) => {
              setWithinS(Number(event.target.value));
            }}
          >
            {WITHIN_S.map((s) => (
              <option key={s} value={s}>
                {s} seconds
              </option>
            ))}
          </select>
        </label>
        {task.status === 'failed' && <p className="failure">{plain(withoutCode(task.message))}</p>}
        <footer>
          <button type="button" onClick={onClose}>
            {isBusy ? 'Withdraw the request' : 'Cancel'}
          </button>
          <button className="primary" disabled={isBusy || reason.trim() === ''}>
            {isBusy ? 'Waiting for a response…' : 'Send request'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
