import { useContext, type ReactElement } from 'react';
import { FactsContext } from '../hooks/facts.ts';
import type { Theme } from '../hooks/theme.ts';
import { hashOf, VIEWS, type Route } from '../model/route.ts';
import { ConnectionPill } from './freshness.tsx';
import { StoredText } from './words.tsx';

const TITLES = {
  queues: 'Queues',
  elections: 'Elections',
  sessions: 'Sessions',
  deadlocks: 'Deadlocks',
  faults: 'Faults',
} as const;

export interface HeaderProps {
  readonly route: Route;
  readonly theme: Theme;
  readonly onHelp: () => void;
}

/** The header of the page: navigation, and whether the shown data is live. */
export function Header({ route, theme: { theme, toggle }, onHelp }: HeaderProps): ReactElement {
  const facts = useContext(FactsContext);
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <header className="top">
      <a className="brand" href="#/queues">
        <Mark />
        queuelock
      </a>
      <nav className="nav" aria-label="Views">
        {facts?.contenders !== undefined && (
          <a
            href={hashOf({ view: 'contenders', name: facts.contenders })}
            aria-current={route.view === 'contenders' ? 'page' : undefined}
          >
            Contenders
          </a>
        )}
        {VIEWS.map((view) => {
          const isHere = route.view === view || `${route.view}s` === view;
          return (
            <a key={view} href={hashOf({ view })} aria-current={isHere ? 'page' : undefined}>
              {TITLES[view]}
            </a>
          );
        })}
      </nav>
      <div className="tools">
        {facts && (
          <span className="store">
            <StoredText text={facts.storeLabel} />
          </span>
        )}
        <ConnectionPill />
        <button
          type="button"
          className="quiet round"
          aria-label={`Switch to ${other}`}
          title={`${other} (t)`}
          onClick={toggle}
        >
          {theme === 'dark' ? '☀' : '☾'}
        </button>
        <button
          type="button"
          className="quiet round"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        >
          ?
        </button>
      </div>
    </header>
  );
}

/** Draws the logo: three entries of a queue, of which the first one holds. */
function Mark(): ReactElement {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" className="mark">
      <rect className="first" x="1" y="3" width="18" height="4" rx="2" />
      <rect x="5" y="8.5" width="14" height="3" rx="1.5" />
      <rect x="9" y="13.5" width="10" height="3" rx="1.5" />
    </svg>
  );
}
