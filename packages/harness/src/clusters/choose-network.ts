import { NotHere } from '../services/service.ts';
import { buildNamespaces } from './namespaces.ts';
import type { Network, NetworkKind, Ports } from './network.ts';
import { buildProxies } from './proxies.ts';

export interface ChosenNetwork {
  readonly network: Network;
  /** Why namespaces are not available, if proxies are used instead of them. `undefined` if the caller forced a network. */
  readonly whyProxies: string | undefined;
}

const builders = { namespaces: buildNamespaces, proxies: buildProxies };

/** Returns namespaces if available, else proxies. Rejects with NotHere if the forced network is not available. */
export async function chooseNetwork(
  forced: NetworkKind | undefined,
  ports: Ports,
  count: number,
): Promise<ChosenNetwork> {
  if (forced !== undefined && !(forced in builders))
    throw new TypeError(`network: "${forced as string}" is neither "namespaces" nor "proxies"`);
  if (forced !== undefined) return { network: await builders[forced](ports, count), whyProxies: undefined };
  try {
    return { network: await buildNamespaces(ports, count), whyProxies: undefined };
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    return { network: await buildProxies(ports, count), whyProxies: error.message };
  }
}
