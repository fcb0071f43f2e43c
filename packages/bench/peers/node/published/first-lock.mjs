// A process from its start to its first lock, from the packages as they are published: first-lock.mjs KIND; ends by itself.
const kinds = {
  'bare-node': async () => undefined,
  'ours-etcd3': () => overEtcd('etcd3'),
  'ours-http2': () => overEtcd('http2'),
  'ours-zookeeper': () => overZooKeeper('native'),
  'ours-wire': () => overZooKeeper('wire'),
  'etcd3-lock': async () => {
    const { Etcd3 } = await import('etcd3');
    await new Etcd3({ hosts: process.env.ETCD }).lock('start').ttl(30).acquire();
  },
};

function overEtcd(transport) {
  return ours(async () => (await import('@queuelock/etcd')).etcd({ hosts: [process.env.ETCD], transport }));
}

function overZooKeeper(transport) {
  const hosts = [process.env.ZK];
  return ours(async () => (await import('@queuelock/zookeeper')).zookeeper({ hosts, transport }));
}

async function ours(backend) {
  const [{ createLockClient }, made] = await Promise.all([import('@queuelock/core'), backend()]);
  await createLockClient(made, { ttlMs: 30_000 }).acquire(`start-${process.pid}`);
}

await kinds[process.argv[2]]();
process.stdout.write('held\n');
process.exit(0);
