import { useLeader, type LeaderView } from '@queuelock/react';
import { useMemo, useState, type ReactElement } from 'react';
import { useStoredText } from '../hooks/stored-text.ts';
import { useNow } from '../hooks/now.ts';
import { namesFrom, namesText, withName, withoutName } from '../model/names.ts';
import { hashOf } from '../model/route.ts';
import { counted, plain, seconds } from '../model/text.ts';
import { Fresh, isLive } from '../parts/freshness.tsx';
import { Empty, StoredText, Title } from '../parts/words.tsx';

/** Shows the elections whose names the user has entered, because a store does not distinguish elections from other queues. */
export function ElectionsView(): ReactElement {
  const [kept, keep] = useStoredText('elections', '[]');
  const names = useMemo(() => namesFrom(kept), [kept]);
  const [typed, setTyped] = useState('');
  return (
    <>
      <Title>Elections</Title>
      <form
        className="tools"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed !== '') keep(namesText(withName(names, typed)));
          setTyped('');
        }}
      >
        <input
          className="search"
          aria-label="Name of an election"
          placeholder="Name of an election"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
          }}
        />
        <button disabled={typed === ''}>Show</button>
      </form>
      {names.length === 0 && (
        <Empty title="No election is selected">
          Enter the name of an election to see its leader. This browser remembers the name.
        </Empty>
      )}
      <ul className="cards">
        {names.map((name) => (
          <ElectionCard
            key={name}
            name={name}
            onForget={() => {
              keep(namesText(withoutName(names, name)));
            }}
          />
        ))}
      </ul>
    </>
  );
}

function ElectionCard({
  name,
  onForget,
}: {
  readonly name: string;
  readonly onForget: () => void;
}): ReactElement {
  const view = useLeader(name);
  return (
    <li className="sheet card" data-led={view.leader !== undefined}>
      <header className="sheet-head">
        <h2>
          <a href={hashOf({ view: 'election', name })}>
            <StoredText text={name} />
          </a>
        </h2>
        <button
          type="button"
          className="quiet"
          aria-label={`Remove ${plain(name)} from this page`}
          onClick={onForget}
        >
          ✕
        </button>
      </header>
      <Fresh observed={view}>
        <Leader view={view} />
      </Fresh>
    </li>
  );
}

function Leader({ view }: { readonly view: LeaderView }): ReactElement {
  const { leader, snapshot } = view;
  const { bridge: now } = useNow(1_000, isLive(view));
  const others = Math.max(0, (snapshot?.candidates.length ?? 0) - 1);
  return (
    <div className="leader">
      <p className="owner">{leader ? <StoredText text={leader.value} none="(no value)" /> : 'No leader'}</p>
      <p className="note">
        {leader && snapshot?.leaderAt !== undefined && `leads for ${seconds(now - snapshot.leaderAt)}, `}
        {others === 0 ? 'no other candidate' : counted(others, 'other candidate')}
      </p>
    </div>
  );
}

/** Shows one election: the leader and the next candidates. */
export function ElectionView({ name }: { readonly name: string }): ReactElement {
  const view = useLeader(name);
  return (
    <>
      <div className="head">
        <Title>
          <StoredText text={name} />
        </Title>
        <p>
          <a href={hashOf({ view: 'queue', name })}>as a queue</a> · <a href="#/elections">← All elections</a>
        </p>
      </div>
      <Fresh observed={view}>
        <section className="sheet card" aria-label="Leader" data-led={view.leader !== undefined}>
          <Leader view={view} />
        </section>
        <section className="sheet" aria-labelledby="candidates-title">
          <header className="sheet-head">
            <h2 id="candidates-title">Candidates, in the order in which they will lead</h2>
          </header>
          <ol className="candidates">
            {view.snapshot?.candidates.slice(0, SHOWN).map(({ value, key, order }, place) => (
              <li key={`${order} ${key}`}>
                <span className="number">{place === 0 ? 'leads' : place}</span>
                <StoredText text={value} none="(no value)" />
                <code>{order}</code>
              </li>
            ))}
          </ol>
        </section>
      </Fresh>
    </>
  );
}

// Maximum number of candidates that the view of an election shows. The view of the queue shows all of them.
const SHOWN = 200;
