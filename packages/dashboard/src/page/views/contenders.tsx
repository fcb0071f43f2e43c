import { useContenders, useTimeline } from '@queuelock/react';
import type { ReactElement } from 'react';
import { hashOf } from '../model/route.ts';
import { Contenders } from '../parts/contenders.tsx';
import { Fresh, isLive } from '../parts/freshness.tsx';
import { HandOffs } from '../parts/hand-offs.tsx';
import { Happenings } from '../parts/happenings.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Title } from '../parts/words.tsx';

/**
 * Shows the processes of `queuelock demo`, which contend for one lock, and what happens to them. The user may
 * kill, freeze or disconnect them.
 */
export function ContendersView({ name }: { readonly name: string }): ReactElement {
  const seen = useContenders(name);
  const timeline = useTimeline(name);
  const { snapshot } = seen;
  const holders = (snapshot?.contenders ?? []).filter(({ status }) => status === 'holds');
  return (
    <>
      <div className="head">
        <Title>Contenders</Title>
        <a href={hashOf({ view: 'queue', name })}>Join their queue →</a>
      </div>
      <Fresh observed={seen}>
        {snapshot && (
          <div className="split">
            <Contenders snapshot={snapshot} isRunning={isLive(seen)} />
            <Happenings happenings={snapshot.happenings} />
          </div>
        )}
        {timeline.snapshot && (
          <Timeline snapshot={timeline.snapshot} isRunning={isLive(timeline)} ownId={undefined} />
        )}
        <HandOffs owners={holders.map(({ id }) => id)} />
      </Fresh>
    </>
  );
}
