import type { BridgeFacts } from '@queuelock/bridge/wire';
import { useBridge, useConnection } from '@queuelock/react';
import { createContext, useContext, useEffect, useState } from 'react';

export const FactsContext = createContext<BridgeFacts | undefined>(undefined);

/**
 * Returns what the bridge reports about itself, such as its store and the actions that it permits. Reads it
 * again after each reconnect, because the page may be connected to another bridge by then.
 */
export function useBridgeFacts(): BridgeFacts | undefined {
  const client = useBridge();
  const { connection } = useConnection();
  const [facts, setFacts] = useState<BridgeFacts>();
  useEffect(() => {
    if (connection !== 'live') return undefined;
    let isMounted = true;
    client.facts().then(
      (response) => {
        if (isMounted) setFacts(response);
      },
      () => {
        // Ignores a failed read of the bridge's report on itself. The page shows the state of the
        // connection, and reads again after a reconnect.
      },
    );
    return () => {
      isMounted = false;
    };
  }, [client, connection]);
  return facts;
}

/**
 * Returns the actions that the bridge permits to this page. Until the bridge has reported them, none is
 * permitted.
 */
export function useMay(): BridgeFacts['may'] {
  return useContext(FactsContext)?.may ?? NOTHING;
}

const NOTHING: BridgeFacts['may'] = { evict: false, ask: false, join: false };
