import type { LockView } from '@queuelock/react';
import { useContext, type ReactElement } from 'react';
import { FactsContext } from '../hooks/facts.ts';
import { useNow } from '../hooks/now.ts';
import type { OwnJoin } from '../hooks/own-join.ts';
import { withoutCode } from '../model/freshness.ts';
import { duration, ordinal, plain } from '../model/text.ts';
import { HeldLock } from './held-lock.tsx';

/** Lets the user join the queue, see the position of their own entry, and leave the queue. */
export function JoinPanel({ join }: { readonly join: OwnJoin }): ReactElement {
  const identity = useContext(FactsContext)?.identity;
  const { view, hasJoined, owner, setOwner, isReader, setIsReader } = join;
  const { status } = view.state;
  return (
    <section className="sheet join" aria-labelledby="join-title" data-status={status}>
      <header className="sheet-head">
        <h2 id="join-title">Your entry</h2>
      </header>
      {hasJoined ? (
        <Joined view={view} />
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
              Your name, shown to all users
              <input
                maxLength={100}
                value={owner}
                onChange={(event) => {
                  setOwner(event.target.value);
                }}
              />
            </label>
          ) : (
            <p>You join as {plain(identity)}.</p>
          )}
          <label className="check">
            <input
              type="checkbox"
              checked={isReader}
              onChange={(event) => {
                setIsReader(event.target.checked);
              }}
            />
            shared with other readers
          </label>
          <button className="primary">{status === 'ended' ? 'Join again' : 'Join the queue'}</button>
          <p className="hint">Your entry stays for as long as this page shows the queue.</p>
        </form>
      )}
    </section>
  );
}

function Ended({ view: { state, error } }: { readonly view: LockView }): ReactElement | null {
  if (state.status !== 'ended') return null;
  const texts = {
    released: 'Released.',
    lost: 'The lock was lost',
    failed: 'The entry was lost',
  }[state.outcome];
  return (
    <p className={state.outcome === 'released' ? 'hint' : 'failure'} role="status">
      {texts}
      {error && `: ${plain(withoutCode(error.message))}`}
    </p>
  );
}

function Joined({ view }: { readonly view: LockView }): ReactElement {
  const { state, lock, leave } = view;
  if (lock) return <HeldLock lock={lock} isSuspect={state.status === 'suspect'} leave={leave} />;
  return (
    <div className="standing">
      <Position view={view} />
      <button type="button" onClick={leave}>
        Leave the queue
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
        {position === 1 ? 'You are next' : `You are ${ordinal(position)} in the queue`}
      </p>
      <p>
        {connection === 'stale'
          ? 'No response; the entry is kept for some seconds.'
          : expectedWaitMs === undefined
            ? 'The expected wait is unknown yet.'
            : `about ${duration(Math.max(0, expectedWaitMs - (now - at)))}`}
      </p>
      <p className="hint">
        Your token will be <code>{state.token}</code>
      </p>
    </>
  );
}
