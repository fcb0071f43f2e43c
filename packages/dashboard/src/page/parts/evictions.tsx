import type { EvictionSnapshot } from '@queuelock/bridge/wire';
import type { ReactElement } from 'react';
import { timeOfDay } from '../model/text.ts';
import { StoredText } from './words.tsx';

/** Shows the latest evictions of entries from a queue, the newest first. */
export function Evictions({
  evictions,
}: {
  readonly evictions: readonly EvictionSnapshot[];
}): ReactElement | null {
  if (evictions.length === 0) return null;
  return (
    <section className="sheet" aria-labelledby="evictions-title">
      <header className="sheet-head">
        <h2 id="evictions-title">Evictions</h2>
      </header>
      <ol className="events">
        {evictions.toReversed().map(({ entry, kind, by, reason, at }) => (
          <li key={`${at} ${entry.order} ${entry.key}`}>
            <span className="time">{timeOfDay(at)}</span>
            <p>
              <strong>
                <StoredText text={entry.owner} />
              </strong>{' '}
              {kind} by <StoredText text={by} />: <StoredText text={reason} />
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
