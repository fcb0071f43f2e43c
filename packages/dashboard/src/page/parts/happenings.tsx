import type { HappeningSnapshot } from '@queuelock/bridge/wire';
import type { ReactElement } from 'react';
import { plain, timeOfDay } from '../model/text.ts';
import { Empty } from './words.tsx';

/** Lists what has happened to the processes of `queuelock demo`, the newest event first. */
export function Happenings({
  happenings,
}: {
  readonly happenings: readonly HappeningSnapshot[];
}): ReactElement {
  return (
    <section className="sheet happenings" aria-labelledby="happenings-title">
      <header className="sheet-head">
        <h2 id="happenings-title">Events</h2>
        <p className="foot">the newest first</p>
      </header>
      {happenings.length === 0 && <Empty title="No client has held the lock yet" />}
      {/* The list scrolls, so it can be focused with the keyboard. */}
      <ol className="events" tabIndex={0} aria-labelledby="happenings-title">
        {happenings.toReversed().map(({ id, at, kind, text }) => (
          <li key={id} data-kind={kind}>
            <span className="time">{timeOfDay(at)}</span>
            <p>{plain(text)}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
