import type { Driver } from './driver.ts';
import { lazyDriver } from './lazy-driver.ts';
import type { CheckedOptions, Transport } from './options.ts';
import { Failures } from './way.ts';

/** Reaches one member, `host:port`; those of one cluster share the count of failures. */
export type DriverOf = (host: string, options: CheckedOptions, failures: Failures) => Driver;

type Load = () => Promise<DriverOf>;

// Loaded when a member is first asked for something: a process loads the client libraries of its own transport only.
const LOADERS: Readonly<Record<Transport, Load>> = {
  etcd3: async () => (await import('./etcd3-driver.ts')).etcd3Driver,
  http2: async () => (await import('./http2-driver.ts')).http2Driver,
};

/** A member over the transport that the options name. */
export function driverOf(host: string, options: CheckedOptions, failures: Failures = new Failures()): Driver {
  const load = LOADERS[options.transport];
  return lazyDriver(async () => (await load())(host, options, failures));
}
