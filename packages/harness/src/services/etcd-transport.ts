/** The transports of the etcd package. The first one is its default. */
export const ETCD_TRANSPORTS = ['socket', 'http2', 'etcd3'] as const;
export type EtcdTransport = (typeof ETCD_TRANSPORTS)[number];

/** Environment variable with the transport of etcd backends in tests that do not choose one. */
export const ETCD_TRANSPORT_VARIABLE = 'QUEUELOCK_ETCD_TRANSPORT';

/**
 * Returns the transport of etcd backends in tests that do not choose one: the default of the package, or the one that
 * QUEUELOCK_ETCD_TRANSPORT names. Use it to run tests by hand over another transport.
 */
export function etcdTransportName(): EtcdTransport {
  const name = process.env[ETCD_TRANSPORT_VARIABLE] ?? ETCD_TRANSPORTS[0];
  const transport = ETCD_TRANSPORTS.find((known) => known === name);
  if (transport === undefined)
    throw new TypeError(`${ETCD_TRANSPORT_VARIABLE} is etcd3, http2 or socket; got ${JSON.stringify(name)}`);
  return transport;
}

/** Returns the option `transport` of etcd backends in tests that do not choose one; empty for the default. */
export function etcdTransport(): { readonly transport?: 'etcd3' | 'http2' } {
  const transport = etcdTransportName();
  return transport === 'socket' ? {} : { transport };
}

/** Returns the URL of an etcd backend for tests that do not choose a transport. */
export function etcdUrl(hosts: string): string {
  const { transport } = etcdTransport();
  return `etcd://${hosts}${transport === undefined ? '' : `?transport=${transport}`}`;
}
