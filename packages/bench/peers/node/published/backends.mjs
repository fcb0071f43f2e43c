// The backends by kind, loaded from the published packages. Each is loaded when it is first needed.
export const backends = {
  'ours-memory': async () => (await import('@queuelock/memory')).memory(),
  'ours-etcd3': () => overEtcd('etcd3'),
  'ours-http2': () => overEtcd('http2'),
  'ours-socket': () => overEtcd('socket'),
  'ours-zookeeper': () => overZooKeeper('native'),
  'ours-wire': () => overZooKeeper('wire'),
};

async function overEtcd(transport) {
  return (await import('@queuelock/etcd')).etcd({ hosts: [process.env.ETCD], transport });
}

async function overZooKeeper(transport) {
  return (await import('@queuelock/zookeeper')).zookeeper({ hosts: [process.env.ZK], transport });
}

/** Returns a client over a backend of the given kind. Core and backend are loaded at the same time. */
export async function clientOver(kind) {
  const [{ createLockClient }, backend] = await Promise.all([import('@queuelock/core'), backends[kind]()]);
  return createLockClient(backend, { ttlMs: 30_000 });
}
