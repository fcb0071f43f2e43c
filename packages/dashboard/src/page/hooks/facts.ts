import type { BridgeFacts } from '@queuelock/bridge/wire';
import { useBridge, useConnection } from '@queuelock/react';
import { createContext, useContext, useEffect, useState } from 'react';

export const FactsContext = createContext<BridgeFacts | undefined>(undefined);

/**
 * Returns the facts of the bridge. Reads them again after each reconnect, because the page may be connected
 * to another bridge by then.
 */
export function useBridgeFacts(): BridgeFacts | undefined {
  const client = useBridge();
  const { connection } = useConnection();
  const [facts, setFacts] = useState<BridgeFacts>();
  useEffect(() => {
    if (connection !== 'live') return undefined;
    let isMounted = true;
    client.facts().then(
      (answer) => {
        if (isMounted) setFacts(answer);
      },
      () => {
        // The error is ignored: the connection state shows it, and the facts are read again after a
        // reconnect.
      },
    );
    return () => {
      isMounted = false;
    };
  }, [client, connection]);
  return facts;
}

/** Returns the actions that this page may do, as far as they are known. */
export function useMay(): BridgeFacts['may'] {
  return useContext(FactsContext)?.may ?? NOTHING;
}

const NOTHING: BridgeFacts['may'] = { evict: false, ask: false, join: false };
