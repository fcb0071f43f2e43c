import { etcd } from '@queuelock/etcd';
import { mysql } from '@queuelock/mysql';
import { postgres } from '@queuelock/postgres';
import { redis } from '@queuelock/redis';
import { zookeeper } from '@queuelock/zookeeper';
import { describeTlsIdentity } from './tls-identity.ts';
import { DIRECT, MYSQL, POSTGRES } from './tls-server.ts';

describeTlsIdentity({
  'etcd over etcd3': {
    prelude: DIRECT,
    connect: (host, rootCertificate) =>
      etcd({ hosts: `https://${host}`, transport: 'etcd3', credentials: { rootCertificate } }),
  },
  'etcd over http2': {
    prelude: DIRECT,
    connect: (host, rootCertificate) =>
      etcd({ hosts: `https://${host}`, transport: 'http2', credentials: { rootCertificate } }),
  },
  'etcd over socket': {
    prelude: DIRECT,
    connect: (host, rootCertificate) =>
      etcd({ hosts: `https://${host}`, transport: 'socket', credentials: { rootCertificate } }),
  },
  zookeeper: {
    prelude: DIRECT,
    connect: (host, ca) => zookeeper({ hosts: [host], tls: { ca }, connectTimeoutMs: 1_000 }),
  },
  redis: { prelude: DIRECT, connect: (host, ca) => redis({ url: `rediss://${host}`, tls: { ca } }) },
  postgres: {
    prelude: POSTGRES,
    connect: (host, ca) => postgres({ url: `postgres://u:p@${host}/db`, tls: { ca } }),
  },
  mysql: { prelude: MYSQL, connect: (host, ca) => mysql({ url: `mysql://u:p@${host}/db`, tls: { ca } }) },
});
