import type { FaultSnapshot, FindingSnapshot } from '@queuelock/bridge/wire';
import { useFaults } from '@queuelock/react';
import type { ReactElement } from 'react';
import { plain, seconds, timeOfDay } from '../model/text.ts';
import { Fresh, isLive } from '../parts/freshness.tsx';
import { useNow } from '../hooks/now.ts';
import { Empty, StoredText, Title } from '../parts/words.tsx';

/** Shows the current results of the health check, and the failures that the bridge has seen. */
export function FaultsView(): ReactElement {
  const seen = useFaults();
  const { snapshot } = seen;
  const { bridge: now } = useNow(1_000, isLive(seen));
  return (
    <>
      <Title>Faults</Title>
      <Fresh observed={seen}>
        {snapshot && (
          <>
            <section className="sheet" aria-labelledby="findings-title">
              <header className="sheet-head">
                <h2 id="findings-title">Findings about the store</h2>
                {snapshot.diagnosedAt !== undefined && (
                  <p className="foot">diagnosed {seconds(now - snapshot.diagnosedAt)} ago</p>
                )}
              </header>
              <Findings findings={snapshot.findings} wasDiagnosed={snapshot.diagnosedAt !== undefined} />
            </section>
            <section className="sheet" aria-labelledby="faults-title">
              <header className="sheet-head">
                <h2 id="faults-title">Past faults</h2>
                <p className="foot">the newest first</p>
              </header>
              <Happened faults={snapshot.faults} />
            </section>
          </>
        )}
      </Fresh>
    </>
  );
}

const ORDER = ['error', 'warning', 'ok'] as const;

interface FindingsProps {
  readonly findings: readonly FindingSnapshot[];
  readonly wasDiagnosed: boolean;
}

function Findings({ findings, wasDiagnosed }: FindingsProps): ReactElement {
  if (findings.length === 0)
    return <Empty title={wasDiagnosed ? 'There are no findings' : 'It has not been diagnosed yet'} />;
  const sorted = ORDER.flatMap((level) => findings.filter((finding) => finding.level === level));
  return (
    <ul className="events">
      {sorted.map(({ level, about, text }, place) => (
        <li key={place} data-level={level}>
          <span className="level">{level}</span>
          <p>
            <strong>
              <StoredText text={about} />
            </strong>{' '}
            {plain(text)}
          </p>
        </li>
      ))}
    </ul>
  );
}

const SHOWN = 200;

function Happened({ faults }: { readonly faults: readonly FaultSnapshot[] }): ReactElement {
  if (faults.length === 0) return <Empty title="There were no faults while the bridge watched" />;
  const newest = faults.slice(-SHOWN).reverse();
  return (
    <ol className="events">
      {newest.map(({ at, kind, about, text }, place) => (
        <li key={place} data-level={kind === 'eviction' ? 'warning' : 'error'}>
          <span className="level">{kind}</span>
          <span className="time">{timeOfDay(at)}</span>
          <p>
            <strong>
              <StoredText text={about} />
            </strong>{' '}
            {plain(text)}
          </p>
        </li>
      ))}
    </ol>
  );
}
