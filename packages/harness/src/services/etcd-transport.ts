/**
 * Returns the transport of etcd backends in tests that do not choose one: the default of the package, socket, or the one that
 * QUEUELOCK_ETCD_TRANSPORT names. Use it to run tests by hand over another transport.
 */
export function etcdTransport(): { readonly transport?: 'etcd3' | 'http2' } {
  const name = process.env['QUEUELOCK_ETCD_TRANSPORT'] ?? 'socket';
  if (name !== 'etcd3' && name !== 'http2' && name !== 'socket')
    throw new TypeError(`QUEUELOCK_ETCD_TRANSPORT is etcd3, http2 or socket; got ${JSON.stringify(name)}`);
  return name === 'socket' ? {} : { transport: name };
}

/** Returns the URL of an etcd backend for tests that do not choose a transport. */
export function etcdUrl(hosts: string): string {
  const { transport } = etcdTransport();
  return `etcd://${hosts}${transport === undefined ? '' : `?transport=${transport}`}`;
}
