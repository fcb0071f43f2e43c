import type { HandoverResponse, EntrySnapshot } from '@queuelock/bridge/wire';
import { useBridge } from '@queuelock/react';
import { useState, type ReactElement } from 'react';
import { useTask } from '../hooks/task.ts';
import { withoutCode } from '../model/freshness.ts';
import { plain } from '../model/text.ts';
import { Dialog, Pairs } from './dialog.tsx';
import { Outcome } from './evict.tsx';
import { Said } from './words.tsx';

const ANSWERS: Readonly<Record<HandoverResponse['answer'], string>> = {
  yields: 'It makes way.',
  declined: 'It declined.',
  ignored: 'It did not answer in time. Not every program listens to requests.',
  released: 'It released while it was asked.',
  free: 'Nobody held any more.',
};

const WITHIN_S = [5, 15, 30, 60] as const;

/** Props of the dialog. */
export interface AskProps {
  readonly name: string;
  readonly holder: EntrySnapshot;
  readonly onClose: () => void;
}

/** Requests the lock from its holder and shows the answer. Closing the dialog withdraws the request. */
export function AskDialog({ name, holder, onClose }: AskProps): ReactElement {
  const client = useBridge();
  const [reason, setReason] = useState('');
  const [withinS, setWithinS] = useState<number>(15);
  const [task, start] = useTask<HandoverResponse>();
  const owner = plain(holder.owner) || 'the holder';
  if (task.status === 'done') {
    const { answer, reason: why } = task.value;
    const words = `${ANSWERS[answer]}${why === undefined ? '' : ` “${plain(why)}”`}`;
    return <Outcome title={`Asked ${owner}`} words={words} onClose={onClose} />;
  }
  const isBusy = task.status === 'busy';
  return (
    <Dialog title={`Ask ${owner} to make way?`} onClose={onClose}>
      <Pairs
        pairs={[
          ['Queue', <Said key="queue" text={name} />],
          ['Holder', <Said key="owner" text={holder.owner} />],
          ['Token', <code key="token">{holder.token ?? 'not known'}</code>],
        ]}
      />
      <p>The bridge stands in line for as long, so that the holder sees who asks. The holder may decline.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start((signal) => client.ask(name, { reason: reason.trim(), withinMs: withinS * 1_000, signal }));
        }}
      >
        <label>
          Reason, for the holder to decide by
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
            {isBusy ? 'Stop asking' : 'Cancel'}
          </button>
          <button className="primary" disabled={isBusy || reason.trim() === ''}>
            {isBusy ? 'Waiting for an answer…' : 'Ask'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
