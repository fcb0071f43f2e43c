import type { FaultPicture, FindingPicture } from '@queuelock/bridge/wire';
import { useFaults } from '@queuelock/react';
import type { ReactElement } from 'react';
import { plain, seconds, timeOfDay } from '../model/text.ts';
import { Fresh, isLive } from '../parts/freshness.tsx';
import { useNow } from '../hooks/now.ts';
import { Empty, Said, Title } from '../parts/words.tsx';

/** What is wrong, and what has gone wrong while the bridge looked. */
export function FaultsView(): ReactElement {
  const seen = useFaults();
  const { picture } = seen;
  const { bridge: now } = useNow(1_000, isLive(seen));
  return (
    <>
      <Title>Faults</Title>
      <Fresh seen={seen}>
        {picture && (
          <>
            <section className="sheet" aria-labelledby="findings-title">
              <header className="sheet-head">
                <h2 id="findings-title">What is said about the store</h2>
                {picture.examinedAt !== undefined && (
                  <p className="foot">looked at {seconds(now - picture.examinedAt)} ago</p>
                )}
              </header>
              <Findings findings={picture.findings} wasExamined={picture.examinedAt !== undefined} />
            </section>
            <section className="sheet" aria-labelledby="faults-title">
              <header className="sheet-head">
                <h2 id="faults-title">What has happened</h2>
                <p className="foot">the newest first</p>
              </header>
              <Happened faults={picture.faults} />
            </section>
          </>
        )}
      </Fresh>
    </>
  );
}

const ORDER = ['problem', 'advice', 'fine'] as const;

interface FindingsProps {
  readonly findings: readonly FindingPicture[];
  readonly wasExamined: boolean;
}

function Findings({ findings, wasExamined }: FindingsProps): ReactElement {
  if (findings.length === 0)
    return <Empty title={wasExamined ? 'Nothing was found' : 'It has not been looked at yet'} />;
  const sorted = ORDER.flatMap((level) => findings.filter((finding) => finding.level === level));
  return (
    <ul className="events">
      {sorted.map(({ level, about, text }, place) => (
        <li key={place} data-level={level}>
          <span className="level">{level}</span>
          <p>
            <strong>
              <Said text={about} />
            </strong>{' '}
            {plain(text)}
          </p>
        </li>
      ))}
    </ul>
  );
}

const SHOWN = 200;

function Happened({ faults }: { readonly faults: readonly FaultPicture[] }): ReactElement {
  if (faults.length === 0) return <Empty title="Nothing has gone wrong while the bridge looked" />;
  const newest = faults.slice(-SHOWN).reverse();
  return (
    <ol className="events">
      {newest.map(({ at, kind, about, text }, place) => (
        <li key={place} data-level={kind === 'eviction' ? 'advice' : 'problem'}>
          <span className="level">{kind}</span>
          <span className="time">{timeOfDay(at)}</span>
          <p>
            <strong>
              <Said text={about} />
            </strong>{' '}
            {plain(text)}
          </p>
        </li>
      ))}
    </ol>
  );
}
