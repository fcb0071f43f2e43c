import type { LockView } from '@queuelock/react';
import { useContext, type ReactElement } from 'react';
import { FactsContext } from '../hooks/facts.ts';
import { useNow } from '../hooks/now.ts';
import type { OwnPlace } from '../hooks/own-place.ts';
import { withoutCode } from '../model/freshness.ts';
import { duration, ordinal, plain } from '../model/text.ts';
import { HeldPlace } from './held-place.tsx';

/** Lets the user join the queue, see the position, and leave. */
export function JoinPanel({ place }: { readonly place: OwnPlace }): ReactElement {
  const identity = useContext(FactsContext)?.identity;
  const { view, isTaken, owner, setOwner, isReader, setIsReader } = place;
  const { status } = view.state;
  return (
    <section className="sheet join" aria-labelledby="join-title" data-status={status}>
      <header className="sheet-head">
        <h2 id="join-title">Your place</h2>
      </header>
      {isTaken ? (
        <Standing view={view} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            view.join();
          }}
        >
          <Ended view={view} />
          {identity === undefined ? (
            <label>
              Your name, for all to see
              <input
                maxLength={100}
                value={owner}
                onChange={(event) => {
                  setOwner(event.target.value);
                }}
              />
            </label>
          ) : (
            <p>You stand in line as {plain(identity)}.</p>
          )}
          <label className="check">
            <input
              type="checkbox"
              checked={isReader}
              onChange={(event) => {
                setIsReader(event.target.checked);
              }}
            />
            together with other readers
          </label>
          <button className="primary">{status === 'ended' ? 'Take another place' : 'Take a place'}</button>
          <p className="hint">The place is yours for as long as this page shows the queue.</p>
        </form>
      )}
    </section>
  );
}

function Ended({ view: { state, error } }: { readonly view: LockView }): ReactElement | null {
  if (state.status !== 'ended') return null;
  const words = {
    released: 'Released.',
    lost: 'The lock was lost',
    failed: 'The place was lost',
  }[state.outcome];
  return (
    <p className={state.outcome === 'released' ? 'hint' : 'failure'} role="status">
      {words}
      {error && `: ${plain(withoutCode(error.message))}`}
    </p>
  );
}

function Standing({ view }: { readonly view: LockView }): ReactElement {
  const { state, lock, leave } = view;
  if (lock) return <HeldPlace lock={lock} isSuspect={state.status === 'suspect'} leave={leave} />;
  return (
    <div className="standing">
      <Position view={view} />
      <button type="button" onClick={leave}>
        Leave the line
      </button>
    </div>
  );
}

function Position({ view: { state } }: { readonly view: LockView }): ReactElement {
  const { bridge: now } = useNow(1_000);
  if (state.status !== 'queued') return <p role="status">Joining…</p>;
  const { position, expectedWaitMs, at, connection } = state;
  return (
    <>
      <p className="place" role="status">
        {position === 1 ? 'You are next' : `You are ${ordinal(position)}`}
      </p>
      <p>
        {connection === 'stale'
          ? 'No answer; the place is kept for some seconds.'
          : expectedWaitMs === undefined
            ? 'Nothing is known yet of how long it takes.'
            : `about ${duration(Math.max(0, expectedWaitMs - (now - at)))}`}
      </p>
      <p className="hint">
        Your token will be <code>{state.token}</code>
      </p>
    </>
  );
}
