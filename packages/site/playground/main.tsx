import './platform/globals.ts';
import { createBridgeClient } from '@queuelock/bridge/client';
import { createLockClient } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { BridgeProvider } from '@queuelock/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBridge } from '../../bridge/src/bridge.ts';
import { App } from '../../dashboard/src/page/app.tsx';
import '../../dashboard/src/page/styles/tokens.css';
import '../../dashboard/src/page/styles/base.css';
import '../../dashboard/src/page/styles/layout.css';
import '../../dashboard/src/page/styles/parts.css';
import '../../dashboard/src/page/styles/tables.css';
import '../../dashboard/src/page/styles/charts.css';
import { Playground } from './arena.ts';

/**
 * Shows the dashboard with its unchanged user interface. The bridge and the store that it displays run in the
 * same browser page instead of on a server.
 */
const server = createMemoryServer();
const watcher = createLockClient(memory({ server }), { owner: 'this page' });
const bridge = createBridge({
  client: watcher,
  authorize: () => true,
  storeLabel: 'a store in this page',
  allowedHosts: [location.hostname],
  contenders: new Playground(server, watcher),
});
const client = createBridgeClient({
  fetch: (input, init) => bridge.handle(new Request(new URL(input as string, location.origin), init)),
});
if (location.hash === '') location.hash = '#/contenders/demo';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id root');
createRoot(root).render(
  <StrictMode>
    <BridgeProvider client={client}>
      <App />
    </BridgeProvider>
  </StrictMode>,
);
