import type { EntrySnapshot } from '@queuelock/bridge/wire';
import { useMemo, type ReactElement } from 'react';
import { useNow } from '../hooks/now.ts';
import { entryKey, notesOf } from '../model/hold.ts';
import { count, counted, duration, plain, seconds } from '../model/text.ts';
import type { EntryActions } from './holders.tsx';
import { Table, type Column } from './table.tsx';
import { Empty, StoredText } from './words.tsx';

export interface WaitersProps {
  /** The waiting entries of the queue, in its order. */
  readonly waiters: readonly EntrySnapshot[];
  readonly isRunning: boolean;
  readonly acts: EntryActions;
  /** Id of the entry by which the user of the page has joined the queue. */
  readonly ownId: string | undefined;
}

/** Lists the waiters of a queue with their positions, in the order of the queue. */
export function Waiters({ waiters, isRunning, acts, ownId }: WaitersProps): ReactElement {
  const { bridge: now } = useNow(1_000, isRunning);
  const columns = useMemo(() => columnsOf(now, acts), [now, acts]);
  return (
    <section className="sheet" aria-labelledby="waiters-title">
      <header className="sheet-head">
        <h2 id="waiters-title">Waits</h2>
        <p className="foot">{counted(waiters.length, 'waiter')} waiting</p>
      </header>
      {waiters.length === 0 ? (
        <Empty title="No client waits" />
      ) : (
        <Table
          label="Waiters in order"
          kind="waiters"
          columns={columns}
          rows={waiters}
          keyOf={entryKey}
          classOf={({ id }) => (id !== undefined && id === ownId ? 'own' : undefined)}
        />
      )}
    </section>
  );
}

function columnsOf(now: number, { onEvict }: EntryActions): readonly Column<EntrySnapshot>[] {
  return [
    { id: 'position', title: 'Pos', isNumber: true, cell: ({ position }) => count(position) },
    { id: 'owner', title: 'Owner', cell: ({ owner }) => <StoredText text={owner} /> },
    {
      id: 'host',
      title: 'Host',
      isSpare: true,
      cell: ({ host, pid }) => (
        <StoredText text={[host, pid].filter((part) => part !== undefined).join(' · ')} />
      ),
    },
    { id: 'waited', title: 'Waits for', isNumber: true, cell: ({ seenAt }) => seconds(now - seenAt) },
    { id: 'expected', title: 'Expected', isNumber: true, cell: expected },
    {
      id: 'notes',
      title: 'Notes',
      isSpare: true,
      cell: (entry) => <StoredText text={notesOf(entry)} none="" />,
    },
    ...(onEvict ? [evicting(onEvict)] : []),
  ];
}

function expected({ expectedWaitMs }: EntrySnapshot): string {
  return expectedWaitMs === undefined ? '-' : `~${duration(expectedWaitMs)}`;
}

function evicting(onEvict: (entry: EntrySnapshot) => void): Column<EntrySnapshot> {
  return {
    id: 'acts',
    title: 'Acts',
    cell: (entry) => (
      <button
        type="button"
        className="quiet danger"
        aria-label={`Evict ${plain(entry.owner)}, position ${entry.position}…`}
        onClick={() => {
          onEvict(entry);
        }}
      >
        Evict…
      </button>
    ),
  };
}
