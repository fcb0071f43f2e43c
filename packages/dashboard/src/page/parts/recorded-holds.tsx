import type { RecordedHoldSnapshot } from '@queuelock/bridge/wire';
import type { ReactElement } from 'react';
import { dateTime, recordedEnd, recordedLength } from '../model/recorded.ts';
import { counted } from '../model/text.ts';
import { Table, type Column } from './table.tsx';
import { StoredText } from './words.tsx';

const COLUMNS: readonly Column<RecordedHoldSnapshot>[] = [
  { id: 'began', title: 'Began', cell: ({ beganAt }) => dateTime(beganAt) },
  { id: 'length', title: 'Held for', isNumber: true, cell: recordedLength },
  { id: 'owner', title: 'Owner', cell: ({ owner }) => <StoredText text={owner} /> },
  {
    id: 'process',
    title: 'Process',
    isSpare: true,
    cell: ({ host, pid }) => (
      <StoredText text={[host, pid].filter((part) => part !== undefined).join(' · ')} />
    ),
  },
  { id: 'token', title: 'Token', isNumber: true, cell: ({ token }) => token },
  { id: 'end', title: 'End', cell: (hold) => <StoredText text={recordedEnd(hold)} /> },
];

/**
 * Lists the holds of a queue that its clients have recorded, the newest first. Shows nothing if there are
 * none.
 */
export function RecordedHolds({
  holds,
}: {
  readonly holds: readonly RecordedHoldSnapshot[];
}): ReactElement | null {
  if (holds.length === 0) return null;
  return (
    <section className="sheet" aria-labelledby="recorded-title">
      <header className="sheet-head">
        <h2 id="recorded-title">Recorded holds</h2>
        <p className="foot">{counted(holds.length, 'hold')}, by the clocks of the holders</p>
      </header>
      <Table
        label="Recorded holds, the newest first"
        kind="recorded"
        columns={COLUMNS}
        rows={holds.toReversed()}
        keyOf={({ id }) => id}
      />
    </section>
  );
}
