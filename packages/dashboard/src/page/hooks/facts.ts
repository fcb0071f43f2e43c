import type { BridgeFacts } from '@queuelock/bridge/wire';
import { useBridge, useConnection } from '@queuelock/react';
import { createContext, useContext, useEffect, useState } from 'react';

export const FactsContext = createContext<BridgeFacts | undefined>(undefined);

/** What the bridge says of itself; asked again whenever the connection has come back, since it may be another one. */
export function useAskedFacts(): BridgeFacts | undefined {
  const client = useBridge();
  const { connection } = useConnection();
  const [facts, setFacts] = useState<BridgeFacts>();
  useEffect(() => {
    if (connection !== 'live') return undefined;
    let isWanted = true;
    client.facts().then(
      (answer) => {
        if (isWanted) setFacts(answer);
      },
      () => {
        // The connection is gone again, which is shown; they are asked when it is back.
      },
    );
    return () => {
      isWanted = false;
    };
  }, [client, connection]);
  return facts;
}

/** What this page may do, as far as is known. */
export function useMay(): BridgeFacts['may'] {
  return useContext(FactsContext)?.may ?? NOTHING;
}

const NOTHING: BridgeFacts['may'] = { evict: false, ask: false, join: false };
