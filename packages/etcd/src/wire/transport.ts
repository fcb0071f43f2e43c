// Chapter wire: how do requests and responses travel over a connection?
// Two transports: http2-… over Node's own HTTP/2 with etcd's messages by wire-…, etcd3-… over the npm package.

import type { Driver } from '../driver/driver.ts';
import { lazyDriver } from './lazy-driver.ts';
import type { CheckedOptions, Transport } from '../api/options.ts';
import { Failures } from '../driver/member-circuit-breaker.ts';
import type { DriverOf } from './driver-of.ts';

type Load = (options: CheckedOptions) => Promise<DriverOf>;

// The libraries are loaded at the first request to a member, so a process loads only those of its own transport.
const LOADERS: Readonly<Record<Transport, Load>> = {
  http2: async () => (await import('./http2-driver.ts')).http2Driver,
  etcd3: async (options) => {
    const { etcd3DriverBy } = await import('./etcd3-driver.ts');
    return etcd3DriverBy(options.Etcd3 ?? (await import('./etcd3-package.ts')).loadEtcd3());
  },
};

/** Returns the driver of a member over the transport that the options name. */
export function driverOf(host: string, options: CheckedOptions, failures: Failures = new Failures()): Driver {
  const load = LOADERS[options.transport];
  return lazyDriver(async () => (await load(options))(host, options, failures));
}
