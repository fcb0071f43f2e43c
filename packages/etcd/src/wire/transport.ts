// Folder "wire": sends requests and receives responses over a connection.
// transport.ts (this file) chooses one of three transports. The files http2-… send calls over HTTP/2, and the files wire-… encode etcd's
// messages for it. link.ts declares a connection: http2-link.ts is one over Node's own HTTP/2, and socket-link.ts one over the folder
// "frames". The files etcd3-… use the npm package etcd3.

import type { Driver } from '../driver/driver.ts';
import { http2Driver } from './http2-driver.ts';
import { lazyDriver } from './lazy-driver.ts';
import type { CheckedOptions } from '../api/options.ts';
import { Failures } from '../driver/member-circuit-breaker.ts';
import type { DriverOf } from './driver-of.ts';

/**
 * Creates the driver of a member, over the transport that the options name. npm etcd3 is loaded only when it is first used. The transports
 * `http2` and `socket` are loaded at once: they need only Node's own libraries, and a later load would delay the first lock.
 */
export function driverOf(host: string, options: CheckedOptions, failures: Failures = new Failures()): Driver {
  if (options.transport !== 'etcd3') return http2Driver(host, options, failures);
  return lazyDriver(async () => (await loadEtcd3Driver(options))(host, options, failures));
}

async function loadEtcd3Driver({ Etcd3 }: CheckedOptions): Promise<DriverOf> {
  const { etcd3DriverBy } = await import('./etcd3-driver.ts');
  return etcd3DriverBy(Etcd3 ?? (await import('./etcd3-package.ts')).loadEtcd3());
}
