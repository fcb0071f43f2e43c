import type { EntryPicture, QueuePicture } from '@queuelock/bridge/wire';
import { useQueue, useTimeline } from '@queuelock/react';
import { useMemo, useState, type ReactElement } from 'react';
import { useMay } from '../hooks/facts.ts';
import { useOwnPlace } from '../hooks/own-place.ts';
import { holdersOf, waitersOf } from '../model/hold.ts';
import { count, counted, duration, rate } from '../model/text.ts';
import { handOffsPerS } from '../model/timeline.ts';
import { AskDialog } from '../parts/ask.tsx';
import { EvictDialog, type Target } from '../parts/evict.tsx';
import { Evictions } from '../parts/evictions.tsx';
import { Fresh, isLive, knownOf } from '../parts/freshness.tsx';
import { HandOffs } from '../parts/hand-offs.tsx';
import { Holders } from '../parts/holders.tsx';
import { JoinPanel } from '../parts/join-panel.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Waiters } from '../parts/waiters.tsx';
import { Figure, Figures, Said, Title } from '../parts/words.tsx';

/** What an operator is about to do. */
type Doing =
  | { readonly kind: 'evict'; readonly target: Target }
  | { readonly kind: 'ask'; readonly holder: EntryPicture };

/** One queue: who holds, who waits, what happened lately, and what can be done about it. */
export function QueueView({ name }: { readonly name: string }): ReactElement {
  const seen = useQueue(name);
  const timeline = useTimeline(name);
  const may = useMay();
  // Here and not in the panel: what hides the panel must not cost the place.
  const place = useOwnPlace(name);
  const [doing, setDoing] = useState<Doing>();
  const acts = useMemo(
    () => ({
      ...(may.evict && {
        onEvict: (entry: EntryPicture): void => {
          setDoing({ kind: 'evict', target: { name, entry } });
        },
      }),
      ...(may.ask && {
        onAsk: (holder: EntryPicture): void => {
          setDoing({ kind: 'ask', holder });
        },
      }),
    }),
    [may, name],
  );
  const done = (): void => {
    setDoing(undefined);
  };
  const picture = knownOf(seen);
  return (
    <>
      <div className="head">
        <Title>
          <Said text={name} />
        </Title>
        <a href="#/queues">← All queues</a>
      </div>
      <Fresh seen={seen} isAlways>
        {picture && (
          <QueueFigures
            picture={picture}
            perS={timeline.picture && handOffsPerS(timeline.picture, timeline.picture.at)}
          />
        )}
        <div className="split">
          {picture && <Holders picture={picture} isRunning={isLive(seen)} acts={acts} />}
          {(may.join || place.isTaken) && <JoinPanel place={place} />}
        </div>
        {picture && (
          <>
            {timeline.picture && (
              <Timeline picture={timeline.picture} isRunning={isLive(timeline)} ownId={place.id} />
            )}
            <Waiters waiters={waitersOf(picture)} isRunning={isLive(seen)} acts={acts} ownId={place.id} />
            <Evictions evictions={picture.evictions} />
            <HandOffs owners={holdersOf(picture).map(({ owner }) => owner)} />
          </>
        )}
      </Fresh>
      {doing?.kind === 'evict' && <EvictDialog target={doing.target} onClose={done} />}
      {doing?.kind === 'ask' && <AskDialog name={name} holder={doing.holder} onClose={done} />}
    </>
  );
}

interface QueueFiguresProps {
  readonly picture: QueuePicture;
  readonly perS: number | undefined;
}

function QueueFigures({ picture, perS }: QueueFiguresProps): ReactElement {
  const holders = holdersOf(picture);
  const waiters = picture.entries.length - holders.length;
  const oldest = waitersOf(picture).reduce((first, { seenAt }) => Math.min(first, seenAt), picture.at);
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
        note={`a second; ${counted(picture.handOffs, 'hold')} ended`}
      />
      <Figure
        title="Typical hold"
        value={picture.typicalHoldMs === undefined ? '-' : duration(picture.typicalHoldMs)}
        note={waiters > 0 ? `longest wait ${duration(picture.at - oldest)}` : 'as seen lately'}
      />
    </Figures>
  );
}
