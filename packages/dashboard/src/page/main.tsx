import { createBridgeClient } from '@queuelock/bridge/client';
import { BridgeProvider } from '@queuelock/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/tables.css';
import './styles/charts.css';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id root');
createRoot(root).render(
  <StrictMode>
    <BridgeProvider client={createBridgeClient()}>
      <App />
    </BridgeProvider>
  </StrictMode>,
);
