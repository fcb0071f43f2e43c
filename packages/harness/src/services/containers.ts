import { etcdVersion, type EtcdFlags } from './etcd-process.ts';
import { startContainer, type ServerImage } from './container.ts';
import type { ContainerService } from './service.ts';
import { zooKeeperConfig, zooKeeperVersion, type ZooKeeperSettings } from './zookeeper-process.ts';

/** Starts etcd in a container. etcd reads every flag from the environment too, so this works with any image that runs etcd. */
export function startEtcdContainer(flags: EtcdFlags): Promise<ContainerService> {
  return startContainer(etcdImage(flags));
}

/**
 * Starts ZooKeeper in a container. Both the official image and the image of compose/images read a complete
 * /conf/zoo.cfg and the variable JVMFLAGS.
 */
export function startZooKeeperContainer(settings: ZooKeeperSettings): Promise<ContainerService> {
  return startContainer(zooKeeperImage(settings));
}

function etcdImage(flags: EtcdFlags): ServerImage {
  const own = Object.entries(flags).map(([flag, value]) => [etcdVariable(flag), String(value)] as const);
  return {
    name: 'etcd',
    variable: 'QUEUELOCK_ETCD_IMAGE',
    images: ['queuelock/etcd:bookworm', 'quay.io/coreos/etcd:v3.5.21'],
    port: 2379,
    environment: {
      ETCD_NAME: 'etcd',
      ETCD_INITIAL_ADVERTISE_PEER_URLS: 'http://127.0.0.1:2380',
      ETCD_INITIAL_CLUSTER: 'etcd=http://127.0.0.1:2380',
      ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
      ETCD_ADVERTISE_CLIENT_URLS: 'http://127.0.0.1:2379',
      ...(Object.fromEntries(own) as Record<string, string>),
    },
    files: [],
    probe: etcdVersion,
  };
}

function etcdVariable(flag: string): string {
  return `ETCD_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function zooKeeperImage(settings: ZooKeeperSettings): ServerImage {
  const { file, properties } = zooKeeperConfig(settings, {
    dataDir: '/data',
    dataLogDir: '/datalog',
    clientPort: 2181,
  });
  return {
    name: 'ZooKeeper',
    variable: 'QUEUELOCK_ZOOKEEPER_IMAGE',
    images: ['queuelock/zookeeper:bookworm', 'zookeeper:3.8'],
    port: 2181,
    environment: { JVMFLAGS: ['-Xmx512m', ...properties].join(' ') },
    files: [{ target: '/conf/zoo.cfg', content: file }],
    probe: zooKeeperVersion,
  };
}
