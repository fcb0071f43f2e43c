import type { DeadlocksSnapshot, StuckSnapshot } from '@queuelock/bridge/wire';
import { useDeadlocks } from '@queuelock/react';
import { useState, type ReactElement } from 'react';
import { useMay } from '../hooks/facts.ts';
import { coverageWords } from '../model/sessions.ts';
import { counted, plain } from '../model/text.ts';
import { EvictDialog, type Target } from '../parts/evict.tsx';
import { Fresh } from '../parts/freshness.tsx';
import { Ring } from '../parts/ring.tsx';
import { Empty, QueueLink, Said, Title } from '../parts/words.tsx';

type Circle = DeadlocksSnapshot['deadlocks'][number];

/** Shows cycles of waiters. */
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
            {counted(snapshot.included, 'queue')} looked into{coverageWords(snapshot)}
          </p>
        )}
      </div>
      <Fresh seen={seen}>
        {snapshot?.deadlocks.length === 0 && (
          <Empty title="Nobody waits in a circle">
            A circle is found where programs tell what they hold while they wait, as those do that lock inside
            of `run`.
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
        <h2>{counted(circle.length, 'wait')} in a circle</h2>
        <ol className="waits">
          {circle.map(({ name, entry, waitsFor }) => (
            <li key={`${entry.order} ${entry.key}`}>
              <strong>
                <Said text={entry.owner} />
              </strong>{' '}
              waits in <QueueLink name={name} /> for <Said text={waitsFor.owner} />
            </li>
          ))}
        </ol>
        {youngest && (
          <p className="hint">
            <strong>{plain(youngest.entry.owner)}</strong> joined last: it is the one that should give up, and
            what it holds be released.
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
