// Folder "wire": sends requests and receives responses over a connection.
// transport.ts (this file) chooses one of two transports. The files http2-… use Node's own HTTP/2, and the files wire-… encode etcd's
// messages for it. The files etcd3-… use the npm package etcd3.

import type { Driver } from '../driver/driver.ts';
import { http2Driver } from './http2-driver.ts';
import { lazyDriver } from './lazy-driver.ts';
import type { CheckedOptions } from '../api/options.ts';
import { Failures } from '../driver/member-circuit-breaker.ts';
import type { DriverOf } from './driver-of.ts';

/**
 * Creates the driver of a member, over the transport that the options name. npm etcd3 is loaded only when it is first used. The transport `http2` is
 * loaded at once: it needs only Node's own libraries, and a later load would delay the first lock.
 */
export function driverOf(host: string, options: CheckedOptions, failures: Failures = new Failures()): Driver {
  if (options.transport === 'http2') return http2Driver(host, options, failures);
  return lazyDriver(async () => (await loadEtcd3Driver(options))(host, options, failures));
}

async function loadEtcd3Driver({ Etcd3 }: CheckedOptions): Promise<DriverOf> {
  const { etcd3DriverBy } = await import('./etcd3-driver.ts');
  return etcd3DriverBy(Etcd3 ?? (await import('./etcd3-package.ts')).loadEtcd3());
}
