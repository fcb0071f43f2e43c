import { useQueues } from '@queuelock/react';
import { useMemo, useState, type ReactElement } from 'react';
import { useMeter } from '../hooks/meter.ts';
import { useNow } from '../hooks/now.ts';
import { visibleRows, FIRST_CHOICE, sortedBy, type Choice, type SortKey } from '../model/visible-rows.ts';
import { rowsOf, sumOf, type QueueRow } from '../model/meter.ts';
import { hashOf } from '../model/route.ts';
import { count, counted, duration, plain, rate } from '../model/text.ts';
import { Fresh, isLive } from '../parts/freshness.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Empty, Figure, Figures, QueueLink, Title } from '../parts/words.tsx';

/** Shows all queues that are not empty. */
export function QueuesView(): ReactElement {
  const seen = useQueues();
  const meter = useMeter(seen.snapshot);
  const { bridge: now } = useNow(1_000, isLive(seen));
  const rows = useMemo(() => rowsOf(meter, now), [meter, now]);
  return (
    <>
      <Title>Queues</Title>
      <Fresh observed={seen}>
        {rows.length === 0 ? (
          <Empty title="No queue is in use">
            A queue is listed while a client holds its lock or waits for it.
          </Empty>
        ) : (
          <QueueList rows={rows} all={seen.snapshot?.count ?? rows.length} />
        )}
      </Fresh>
    </>
  );
}

function QueueList({
  rows,
  all,
}: {
  readonly rows: readonly QueueRow[];
  readonly all: number;
}): ReactElement {
  const [choice, setChoice] = useState(FIRST_CHOICE);
  const shown = useMemo(() => visibleRows(rows, choice), [rows, choice]);
  const columns = useMemo(() => columnsOf(rows, setChoice), [rows]);
  return (
    <>
      <Sums rows={rows} all={all} />
      <section className="sheet" aria-label="All queues">
        <header className="sheet-head">
          <input
            type="search"
            className="search"
            aria-label="Search by part of the name"
            placeholder="Search queues"
            value={choice.filter}
            onChange={(event) => {
              setChoice({ ...choice, filter: event.target.value });
            }}
          />
          <SortChoice choice={choice} onChoice={setChoice} />
          <p className="foot" role="status">
            {all > rows.length && `the first ${count(rows.length)} of ${counted(all, 'queue')}, `}
            {counted(shown.length, 'queue')} shown
          </p>
        </header>
        {shown.length === 0 ? (
          <Empty title="No queue name contains this text" />
        ) : (
          <Table
            label="Queues"
            kind="queues"
            columns={columns}
            rows={shown}
            keyOf={({ name }) => name}
            sorted={{ id: choice.sort, isUp: choice.reverse !== (choice.sort === 'name') }}
          />
        )}
      </section>
    </>
  );
}

function Sums({ rows, all }: { readonly rows: readonly QueueRow[]; readonly all: number }): ReactElement {
  const { entries, handOffsPerS, slowest } = useMemo(() => sumOf(rows), [rows]);
  return (
    <Figures>
      <Figure title="Queues" value={count(all)} />
      <Figure title="Entries" value={count(entries)} note="holders and waiters" />
      <Figure title="Hand-offs" value={rate(handOffsPerS)} note="a second" />
      <Figure
        title="Longest wait"
        value={slowest?.waitMs === undefined ? '-' : duration(slowest.waitMs)}
        note={slowest && <a href={hashOf({ view: 'queue', name: slowest.name })}>{plain(slowest.name)}</a>}
        tone="wait"
      />
    </Figures>
  );
}

const SORTS: readonly (readonly [SortKey, string])[] = [
  ['depth', 'Entries'],
  ['hand-offs', 'Hand-offs/s'],
  ['held', 'Held'],
  ['turn', 'Turn'],
  ['wait', 'Wait'],
  ['name', 'Name'],
];

interface SortChoiceProps {
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}

/** Lets the user choose how the queues are sorted, on screens that are too narrow for the column titles. */
function SortChoice({ choice, onChoice }: SortChoiceProps): ReactElement {
  return (
    <label className="sort-choice">
      <span>Sort by</span>
      <select
        value={choice.sort}
        onChange={(event) => {
          const sort = SORTS.find(([key]) => key === event.target.value)?.[0] ?? 'depth';
          onChoice({ ...choice, sort, reverse: false });
        }}
      >
        {SORTS.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function columnsOf(
  rows: readonly QueueRow[],
  onChoice: (change: (choice: Choice) => Choice) => void,
): readonly Column<QueueRow>[] {
  const deepest = rows.reduce((most, { depth }) => Math.max(most, depth), 1);
  const sort = (key: SortKey) => (): void => {
    onChoice((choice) => sortedBy(choice, key));
  };
  return [
    { id: 'name', title: 'Queue', onSort: sort('name'), cell: ({ name }) => <QueueLink name={name} /> },
    {
      id: 'depth',
      title: 'Entries',
      isNumber: true,
      onSort: sort('depth'),
      cell: ({ depth }) => <Depth depth={depth} of={deepest} />,
    },
    {
      id: 'hand-offs',
      title: 'Hand-offs/s',
      isNumber: true,
      isSpare: true,
      onSort: sort('hand-offs'),
      cell: ({ handOffsPerS }) => rate(handOffsPerS),
    },
    {
      id: 'held',
      title: 'Held',
      isNumber: true,
      onSort: sort('held'),
      cell: ({ heldMs, heldLonger }) => `${heldLonger ? '>' : ''}${duration(heldMs)}`,
    },
    {
      id: 'turn',
      title: 'Turn',
      isNumber: true,
      isSpare: true,
      onSort: sort('turn'),
      cell: ({ turnMs }) => (turnMs === undefined ? '-' : duration(turnMs)),
    },
    {
      id: 'wait',
      title: 'Wait',
      isNumber: true,
      onSort: sort('wait'),
      cell: ({ waitMs }) => (waitMs === undefined ? '-' : duration(waitMs)),
    },
  ];
}

function Depth({ depth, of }: { readonly depth: number; readonly of: number }): ReactElement {
  return (
    <>
      <span className="bar" aria-hidden="true">
        <span style={{ width: `${(depth / of) * 100}%` }} />
      </span>
      {count(depth)}
    </>
  );
}
