import type { BridgeClient } from '@queuelock/bridge/client';
import { createContext, createElement, useContext, type ReactElement, type ReactNode } from 'react';

const BridgeContext = createContext<BridgeClient | undefined>(undefined);

/** Props of {@link BridgeProvider}. */
export interface BridgeProviderProps {
  /** A client from `createBridgeClient`, made once per page and outside of rendering. The code that made it must close it. */
  readonly client: BridgeClient;
  readonly children?: ReactNode;
}

/**
 * Provides a bridge client to all hooks of the components inside it. When `client` changes, the hooks read
 * the streams of the new client, and joins through the former client end.
 * @example
 * const bridge = createBridgeClient();
 * root.render(createElement(BridgeProvider, { client: bridge }, createElement(App)));
 */
export function BridgeProvider({ client, children }: BridgeProviderProps): ReactElement {
  return createElement(BridgeContext.Provider, { value: client }, children);
}

/**
 * Returns the bridge client of the nearest `BridgeProvider` above the component, for calls such as `evict`.
 * @throws an `Error` if there is no provider
 */
export function useBridge(): BridgeClient {
  const client = useContext(BridgeContext);
  if (!client) throw new Error('There is no bridge client: put <BridgeProvider client={…}> around the page.');
  return client;
}
