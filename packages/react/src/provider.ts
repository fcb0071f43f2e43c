import type { BridgeClient } from '@queuelock/bridge/client';
import { createContext, createElement, useContext, type ReactElement, type ReactNode } from 'react';

const BridgeContext = createContext<BridgeClient | undefined>(undefined);

/** What {@link BridgeProvider} takes. */
export interface BridgeProviderProps {
  /** Made once per page, outside of rendering, by `createBridgeClient`; whoever made it closes it. */
  readonly client: BridgeClient;
  readonly children?: ReactNode;
}

/** Gives a bridge client to the hooks below it. Another client later means other streams; what was joined through the first is left. */
export function BridgeProvider({ client, children }: BridgeProviderProps): ReactElement {
  return createElement(BridgeContext.Provider, { value: client }, children);
}

/** The client of the provider above, for calls such as `evict`. Throws where there is no provider. */
export function useBridge(): BridgeClient {
  const client = useContext(BridgeContext);
  if (!client)
    throw new Error('There is no bridge client here: put <BridgeProvider client={…}> around the page.');
  return client;
}
