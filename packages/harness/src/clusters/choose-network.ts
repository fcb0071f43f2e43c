import { NotHere } from '../services/service.ts';
import { buildNamespaces } from './namespaces.ts';
import type { Network, NetworkKind, Ports } from './network.ts';
import { buildProxies } from './proxies.ts';

export interface ChosenNetwork {
  readonly network: Network;
  /**
   * The reason why the cluster runs over proxies although the caller has chosen no network: why network namespaces are not available. Otherwise
   * `undefined`.
   */
  readonly whyProxies: string | undefined;
}

const builders = { namespaces: buildNamespaces, proxies: buildProxies };

/**
 * Builds a network of Linux namespaces if they are available, else a network of proxies. Rejects with
 * `NotHere` if the caller requires a network that this machine does not support.
 */
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
