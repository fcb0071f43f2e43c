/**
 * Default transport of etcd backends in tests: etcd3, or the one that QUEUELOCK_ETCD_TRANSPORT names. Use it to run tests by hand
 * over the other transport.
 */
export function etcdTransport(): { readonly transport?: 'http2' } {
  const name = process.env['QUEUELOCK_ETCD_TRANSPORT'] ?? 'etcd3';
  if (name !== 'etcd3' && name !== 'http2')
    throw new TypeError(`QUEUELOCK_ETCD_TRANSPORT is etcd3 or http2; got ${JSON.stringify(name)}`);
  return name === 'http2' ? { transport: name } : {};
}

/** Returns the URL of an etcd backend for such tests. */
export function etcdUrl(hosts: string): string {
  const { transport } = etcdTransport();
  return `etcd://${hosts}${transport === undefined ? '' : `?transport=${transport}`}`;
}
