import type { EntrySnapshot, QueueSnapshot } from '@queuelock/bridge/wire';
import { useState, type ReactElement } from 'react';
import { useNow } from '../hooks/now.ts';
import { entryKey, holdersOf, holdMeter, notesOf, type HoldMeter } from '../model/hold.ts';
import { count, duration, seconds } from '../model/text.ts';
import { Pairs } from './dialog.tsx';
import { Empty, StoredText } from './words.tsx';

/**
 * Functions for the actions that the user may do to an entry. If a function is missing, the user may not do
 * that action.
 */
export interface EntryActions {
  readonly onEvict?: (entry: EntrySnapshot) => void;
  readonly onAsk?: (holder: EntrySnapshot) => void;
}

export interface HoldersProps {
  readonly snapshot: QueueSnapshot;
  readonly isRunning: boolean;
  readonly actions: EntryActions;
}

// Largest number of holders that are shown one by one, when several clients hold the lock together.
const SHOWN = 4;

/** Shows the holders of a queue: its admitted entries. */
export function Holders({ snapshot, isRunning, actions }: HoldersProps): ReactElement {
  const holders = holdersOf(snapshot);
  const { bridge: now } = useNow(250, isRunning);
  return (
    <section className="sheet" aria-labelledby="holders-title">
      <header className="sheet-head">
        <h2 id="holders-title">Holders</h2>
      </header>
      {holders.length === 0 && <Empty title="No client holds this lock" />}
      <ul className="holders">
        {holders.slice(0, SHOWN).map((entry) => (
          <Holder
            key={entryKey(entry)}
            entry={entry}
            snapshot={snapshot}
            now={now}
            isRunning={isRunning}
            acts={actions}
          />
        ))}
      </ul>
      {holders.length > SHOWN && <p className="foot">and {count(holders.length - SHOWN)} more</p>}
    </section>
  );
}

interface HolderProps {
  readonly entry: EntrySnapshot;
  readonly snapshot: QueueSnapshot;
  readonly now: number;
  readonly isRunning: boolean;
  readonly acts: EntryActions;
}

function Holder({ entry, snapshot, now, isRunning, acts: { onEvict, onAsk } }: HolderProps): ReactElement {
  const fullMs = useLargest(entry.remainingMs ?? 0);
  const meter = holdMeter(entry, snapshot, { now, fullMs });
  const heldMs = Math.max(0, now - (entry.heldAt ?? snapshot.at));
  const notes = notesOf(entry);
  return (
    <li className="holder">
      <div className="holder-head">
        <p className="owner">
          <StoredText text={entry.owner} />
        </p>
        <p className="held">
          <span className="value">
            {entry.heldLonger ? '>' : ''}
            {seconds(heldMs)}
          </span>{' '}
          held
        </p>
      </div>
      <Bar meter={meter} isRunning={isRunning} />
      <Pairs
        pairs={[
          ['Token', <code key="token">{entry.token ?? '-'}</code>],
          [
            'Process',
            <StoredText
              key="process"
              text={[entry.host, entry.pid].filter((part) => part !== undefined).join(' · ')}
            />,
          ],
          ...(notes === '' ? [] : [['Notes', <StoredText key="notes" text={notes} />] as const]),
        ]}
      />
      {(onAsk ?? onEvict) && (
        <div className="acts">
          {onAsk && (
            <button
              type="button"
              onClick={() => {
                onAsk(entry);
              }}
            >
              Request the lock…
            </button>
          )}
          {onEvict && (
            <button
              type="button"
              className="danger quiet"
              onClick={() => {
                onEvict(entry);
              }}
            >
              Evict…
            </button>
          )}
        </div>
      )}
    </li>
  );
}

interface BarProps {
  readonly meter: HoldMeter;
  readonly isRunning: boolean;
}

function Bar({ meter: { kind, part, ms, typicalMs }, isRunning }: BarProps): ReactElement {
  const isLong = kind === 'typical' && typicalMs !== undefined && ms > typicalMs;
  const usual = typicalMs === undefined ? '' : `typically ${duration(typicalMs)}`;
  // The remaining proven time is not shown from outdated data, which does not prove that the entry still
  // holds the lock.
  const isProven = kind !== 'budget' || isRunning;
  const texts = {
    budget: !isRunning ? 'the proven time is unknown' : `${duration(ms)} proven, until the next heartbeat`,
    typical: isLong ? `longer than usual: ${usual}` : usual,
    unknown: 'no hold has ended yet, so there is no usual duration',
  }[kind];
  return (
    <div className="meter" data-kind={kind} data-long={isLong}>
      <span className="track" aria-hidden="true">
        <span className="fill" style={{ transform: `scaleX(${isProven ? part : 0})` }} />
      </span>
      <span className="note">{texts}</span>
    </div>
  );
}

/**
 * Returns the largest value that was passed since the component was first shown. The remaining proven time of
 * a hold is largest right after a heartbeat.
 */
function useLargest(value: number): number {
  const [largest, setLargest] = useState(value);
  if (value > largest) setLargest(value);
  return Math.max(value, largest);
}
