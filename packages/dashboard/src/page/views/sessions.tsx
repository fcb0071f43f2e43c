import type { SessionSnapshot } from '@queuelock/bridge/wire';
import { useSessions } from '@queuelock/react';
import { useMemo, useState, type ReactElement } from 'react';
import { coverageText, sessionKey, sessionsWith } from '../model/sessions.ts';
import { count, counted, plain } from '../model/text.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Fresh } from '../parts/freshness.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Empty, QueueLink, StoredText, Title } from '../parts/words.tsx';

/** Shows the entries of all queues, grouped by the process that made them. */
export function SessionsView(): ReactElement {
  const seen = useSessions();
  const { snapshot } = seen;
  const [filter, setFilter] = useState('');
  const [opened, setOpened] = useState<string>();
  const columns = useMemo(() => columnsOf(setOpened), []);
  const shown = useMemo(() => sessionsWith(snapshot?.sessions ?? [], filter), [snapshot, filter]);
  const session = snapshot?.sessions.find((one) => sessionKey(one) === opened);
  return (
    <>
      <Title>Sessions</Title>
      <Fresh observed={seen}>
        <section className="sheet" aria-label="All sessions">
          <header className="sheet-head">
            <input
              type="search"
              className="search"
              aria-label="Search by owner, host, process or queue"
              placeholder="Search sessions"
              value={filter}
              onChange={(event) => {
                setFilter(event.target.value);
              }}
            />
            <p className="foot" role="status">
              {counted(shown.length, 'session')} shown{snapshot && coverageText(snapshot)}
            </p>
          </header>
          {shown.length === 0 ? (
            <Empty title={filter === '' ? 'There are no entries' : 'No session contains this text'} />
          ) : (
            <Table label="Sessions" kind="sessions" columns={columns} rows={shown} keyOf={sessionKey} />
          )}
        </section>
      </Fresh>
      {session && (
        <SessionDialog
          session={session}
          onClose={() => {
            setOpened(undefined);
          }}
        />
      )}
    </>
  );
}

function columnsOf(onOpen: (key: string) => void): readonly Column<SessionSnapshot>[] {
  const held = ({ entries }: SessionSnapshot): number =>
    entries.filter(({ position }) => position === 0).length;
  return [
    {
      id: 'owner',
      title: 'Owner',
      cell: (session) => (
        <button
          type="button"
          className="link"
          onClick={() => {
            onOpen(sessionKey(session));
          }}
        >
          <StoredText text={session.owner} />
        </button>
      ),
    },
    { id: 'host', title: 'Host', isSpare: true, cell: ({ host }) => <StoredText text={host} /> },
    { id: 'pid', title: 'PID', isNumber: true, isSpare: true, cell: ({ pid }) => pid ?? '-' },
    { id: 'holds', title: 'Holds', isNumber: true, cell: (session) => count(held(session)) },
    {
      id: 'waits',
      title: 'Waits',
      isNumber: true,
      cell: (session) => count(session.entries.length - held(session)),
    },
  ];
}

const SHOWN = 200;

function SessionDialog({
  session,
  onClose,
}: {
  readonly session: SessionSnapshot;
  readonly onClose: () => void;
}): ReactElement {
  const { owner, host, pid, entries } = session;
  const process = [host, pid].filter((part) => part !== undefined).join(' · ');
  return (
    <Dialog title={plain(owner) || 'A session without an owner'} onClose={onClose}>
      {process !== '' && <p className="hint">{plain(process)}</p>}
      <ul className="entries">
        {entries.slice(0, SHOWN).map(({ name, key, order, position }) => (
          <li key={`${order} ${key}`} data-state={position === 0 ? 'holds' : 'waits'}>
            <QueueLink name={name} />
            <span>{position === 0 ? 'holds' : `waits at position ${count(position)}`}</span>
          </li>
        ))}
      </ul>
      {entries.length > SHOWN && <p className="foot">and {count(entries.length - SHOWN)} more</p>}
    </Dialog>
  );
}
