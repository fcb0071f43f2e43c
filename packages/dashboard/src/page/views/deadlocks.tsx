import type { DeadlocksSnapshot, StuckSnapshot } from '@queuelock/bridge/wire';
import { useDeadlocks } from '@queuelock/react';
import { useState, type ReactElement } from 'react';
import { useMay } from '../hooks/facts.ts';
import { coverageText } from '../model/sessions.ts';
import { counted, plain } from '../model/text.ts';
import { EvictDialog, type Target } from '../parts/evict.tsx';
import { Fresh } from '../parts/freshness.tsx';
import { Ring } from '../parts/ring.tsx';
import { Empty, QueueLink, StoredText, Title } from '../parts/words.tsx';

type Circle = DeadlocksSnapshot['deadlocks'][number];

/** Shows deadlocks: cycles of clients that wait for each other. */
export function DeadlocksView(): ReactElement {
  const seen = useDeadlocks();
  const [target, setTarget] = useState<Target>();
  const { snapshot } = seen;
  return (
    <>
      <div className="head">
        <Title>Deadlocks</Title>
        {snapshot && (
          <p>
            {counted(snapshot.included, 'queue')} checked{coverageText(snapshot)}
          </p>
        )}
      </div>
      <Fresh observed={seen}>
        {snapshot?.deadlocks.length === 0 && (
          <Empty title="There is no deadlock">
            A deadlock can be found if programs publish what they hold while they wait, as they do when they
            lock inside of `run`.
          </Empty>
        )}
        <ul className="stack">
          {snapshot?.deadlocks.map((circle) => (
            <CircleCard key={circleKey(circle)} circle={circle} onEvict={setTarget} />
          ))}
        </ul>
      </Fresh>
      {target && (
        <EvictDialog
          target={target}
          onClose={() => {
            setTarget(undefined);
          }}
        />
      )}
    </>
  );
}

interface CircleProps {
  readonly circle: Circle;
  readonly onEvict: (target: Target) => void;
}

function CircleCard({ circle, onEvict }: CircleProps): ReactElement {
  const { evict } = useMay();
  const [youngest] = circle;
  return (
    <li className="sheet circle">
      <Ring circle={circle} />
      <div>
        <h2>{counted(circle.length, 'wait')} in a cycle</h2>
        <ol className="waits">
          {circle.map(({ name, entry, waitsFor }) => (
            <li key={`${entry.order} ${entry.key}`}>
              <strong>
                <StoredText text={entry.owner} />
              </strong>{' '}
              waits in <QueueLink name={name} /> for <StoredText text={waitsFor.owner} />
            </li>
          ))}
        </ol>
        {youngest && (
          <p className="hint">
            <strong>{plain(youngest.entry.owner)}</strong> joined last: it should give up and release what it
            holds.
          </p>
        )}
        {youngest && evict && (
          <div className="acts">
            <button
              type="button"
              className="danger"
              onClick={() => {
                onEvict({ name: youngest.name, entry: youngest.entry });
              }}
            >
              Evict {plain(youngest.entry.owner)}…
            </button>
          </div>
        )}
      </div>
    </li>
  );
}

function circleKey(circle: readonly StuckSnapshot[]): string {
  return JSON.stringify(circle.map(({ name, entry }) => [name, entry.key, entry.order]));
}
