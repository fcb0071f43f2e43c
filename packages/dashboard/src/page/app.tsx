import { useCallback, useState, type ReactElement } from 'react';
import { FactsContext, useBridgeFacts } from './hooks/facts.ts';
import { useRoute } from './hooks/route.ts';
import { useShortcuts } from './hooks/shortcuts.ts';
import { useTheme } from './hooks/theme.ts';
import { hashOf, type Route } from './model/route.ts';
import type { Shortcut } from './model/keys.ts';
import { Header } from './parts/header.tsx';
import { HelpDialog } from './parts/help.tsx';
import { ContendersView } from './views/contenders.tsx';
import { DeadlocksView } from './views/deadlocks.tsx';
import { ElectionsView, ElectionView } from './views/elections.tsx';
import { FaultsView } from './views/faults.tsx';
import { QueueView } from './views/queue.tsx';
import { QueuesView } from './views/queues.tsx';
import { SessionsView } from './views/sessions.tsx';

/** The root component of the dashboard page. */
export function App(): ReactElement {
  const route = useRoute();
  const facts = useBridgeFacts();
  const contenders = facts?.contenders;
  const theme = useTheme();
  const { toggle } = theme;
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcuts(
    useCallback(
      (shortcut: Shortcut) => {
        if (shortcut.kind === 'help') setHelpOpen(true);
        else if (shortcut.kind === 'theme') toggle();
        else if (shortcut.kind === 'search') document.querySelector<HTMLElement>('.search')?.focus();
        else if (shortcut.kind === 'contenders') {
          if (contenders !== undefined) location.hash = hashOf({ view: 'contenders', name: contenders });
        } else location.hash = shortcut.kind === 'go' ? shortcut.hash : backOf(route);
      },
      [route, toggle, contenders],
    ),
  );
  return (
    <FactsContext.Provider value={facts}>
      <a
        className="skip"
        href={hashOf(route)}
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('main h1')?.focus();
        }}
      >
        Skip to the content
      </a>
      <Header
        route={route}
        theme={theme}
        onHelp={() => {
          setHelpOpen(true);
        }}
      />
      <main className="main">
        <View key={hashOf(route)} route={route} />
      </main>
      {isHelpOpen && (
        <HelpDialog
          onClose={() => {
            setHelpOpen(false);
          }}
        />
      )}
    </FactsContext.Provider>
  );
}

function View({ route }: { readonly route: Route }): ReactElement {
  switch (route.view) {
    case 'queues':
      return <QueuesView />;
    case 'queue':
      return <QueueView name={route.name} />;
    case 'elections':
      return <ElectionsView />;
    case 'election':
      return <ElectionView name={route.name} />;
    case 'sessions':
      return <SessionsView />;
    case 'deadlocks':
      return <DeadlocksView />;
    case 'faults':
      return <FaultsView />;
    case 'contenders':
      return <ContendersView name={route.name} />;
  }
}

function backOf(route: Route): string {
  return hashOf({ view: route.view === 'election' ? 'elections' : 'queues' });
}
