import type { EntrySnapshot, QueueSnapshot } from '@queuelock/bridge/wire';
import { useQueue, useRecord, useTimeline } from '@queuelock/react';
import { useMemo, useState, type ReactElement } from 'react';
import { useMay } from '../hooks/facts.ts';
import { useOwnJoin } from '../hooks/own-join.ts';
import { holdersOf, waitersOf } from '../model/hold.ts';
import { count, counted, duration, rate } from '../model/text.ts';
import { handOffsPerS } from '../model/timeline.ts';
import { AskDialog } from '../parts/ask.tsx';
import { EvictDialog, type Target } from '../parts/evict.tsx';
import { Evictions } from '../parts/evictions.tsx';
import { Fresh, isLive, loadedSnapshot } from '../parts/freshness.tsx';
import { HandOffs } from '../parts/hand-offs.tsx';
import { Holders } from '../parts/holders.tsx';
import { JoinPanel } from '../parts/join-panel.tsx';
import { RecordedHolds } from '../parts/recorded-holds.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Waiters } from '../parts/waiters.tsx';
import { Figure, Figures, StoredText, Title } from '../parts/words.tsx';

/** The action on an entry that the user has chosen and has to confirm in a dialog. */
type PendingAction =
  | { readonly kind: 'evict'; readonly target: Target }
  | { readonly kind: 'ask'; readonly holder: EntrySnapshot };

/** Shows one queue: holders, waiters, recent history, and actions. */
export function QueueView({ name }: { readonly name: string }): ReactElement {
  const seen = useQueue(name);
  const timeline = useTimeline(name);
  const record = useRecord(name);
  const may = useMay();
  // The user's membership in the queue is kept in this component, because hiding the panel must not end it.
  const join = useOwnJoin(name);
  const [doing, setDoing] = useState<PendingAction>();
  const acts = useMemo(
    () => ({
      ...(may.evict && {
        onEvict: (entry: EntrySnapshot): void => {
          setDoing({ kind: 'evict', target: { name, entry } });
        },
      }),
      ...(may.ask && {
        onAsk: (holder: EntrySnapshot): void => {
          setDoing({ kind: 'ask', holder });
        },
      }),
    }),
    [may, name],
  );
  const done = (): void => {
    setDoing(undefined);
  };
  const snapshot = loadedSnapshot(seen);
  return (
    <>
      <div className="head">
        <Title>
          <StoredText text={name} />
        </Title>
        <a href="#/queues">← All queues</a>
      </div>
      <Fresh observed={seen} isAlwaysShown>
        {snapshot && (
          <QueueFigures
            snapshot={snapshot}
            perS={timeline.snapshot && handOffsPerS(timeline.snapshot, timeline.snapshot.at)}
          />
        )}
        <div className="split">
          {snapshot && <Holders snapshot={snapshot} isRunning={isLive(seen)} actions={acts} />}
          {(may.join || join.hasJoined) && <JoinPanel join={join} />}
        </div>
        {snapshot && (
          <>
            {timeline.snapshot && (
              <Timeline snapshot={timeline.snapshot} isRunning={isLive(timeline)} ownId={join.id} />
            )}
            <Waiters waiters={waitersOf(snapshot)} isRunning={isLive(seen)} acts={acts} ownId={join.id} />
            {record.snapshot && <RecordedHolds holds={record.snapshot.holds} />}
            <Evictions evictions={snapshot.evictions} />
            <HandOffs owners={holdersOf(snapshot).map(({ owner }) => owner)} />
          </>
        )}
      </Fresh>
      {doing?.kind === 'evict' && <EvictDialog target={doing.target} onClose={done} />}
      {doing?.kind === 'ask' && <AskDialog name={name} holder={doing.holder} onClose={done} />}
    </>
  );
}

interface QueueFiguresProps {
  readonly snapshot: QueueSnapshot;
  readonly perS: number | undefined;
}

function QueueFigures({ snapshot, perS }: QueueFiguresProps): ReactElement {
  const holders = holdersOf(snapshot);
  const waiters = snapshot.entries.length - holders.length;
  const oldest = waitersOf(snapshot).reduce((first, { seenAt }) => Math.min(first, seenAt), snapshot.at);
  return (
    <Figures>
      <Figure
        title="Holds"
        value={count(holders.length)}
        note={holders.length === 1 ? 'entry' : 'entries'}
        tone="hold"
      />
      <Figure title="Waits" value={count(waiters)} note={waiters === 1 ? 'entry' : 'entries'} tone="wait" />
      <Figure
        title="Hand-offs"
        value={perS === undefined ? '-' : rate(perS)}
        note={`a second; ${counted(snapshot.handOffs, 'hold')} ended`}
      />
      <Figure
        title="Typical hold"
        value={snapshot.typicalHoldMs === undefined ? '-' : duration(snapshot.typicalHoldMs)}
        note={waiters > 0 ? `longest wait ${duration(snapshot.at - oldest)}` : 'of recent holds'}
      />
    </Figures>
  );
}
